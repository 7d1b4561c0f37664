# Runs signature vectors against fixtures/receivers/ruby.rb. Arguments: the receiver, the vectors.
require 'json'

receiver, file = ARGV
load receiver
vectors = JSON.parse(File.read(file, encoding: 'UTF-8'))['vectors']
failed = vectors.reject do |one|
  body = one['body'].unpack1('m0')
  genuine = genuine?(one['secret'], one['header'] || '', body, now: one['now'], tolerance: one['tolerance'])
  one['verdict'] == 'either' || genuine == (one['verdict'] == 'accepted')
end
failed.each { |one| warn one['name'] }
puts "ruby: #{vectors.length - failed.length} of #{vectors.length}"
exit failed.empty?
