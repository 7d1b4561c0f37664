# Perl and a socket: one request after the other, HTTP/1.0, answered with 299.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use IO::Socket::INET;

$| = 1;
$SIG{PIPE} = 'IGNORE';
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 128)
  or die "cannot listen: $!";
print 'listening on http://127.0.0.1:', $server->sockport, "/\n";

sub verified {
    my ($header, $body) = @_;
    my ($t, $rest) = $header =~ /\At=([0-9]{1,15})((?:,v1=[0-9a-f]{64})+)\z/ or return 0;
    return 0 if abs(time - $t) > 300;
    my $expected = hmac_sha256_hex("$t.$body", $ENV{WEBHOOK_SECRET});
    my $found = 0;
    for my $one (grep { length } split /,v1=/, $rest) {
        my $difference = 0;
        $difference |= ord(substr $one, $_, 1) ^ ord(substr $expected, $_, 1) for 0 .. 63;
        $found ||= $difference == 0;
    }
    return $found;
}

while (my $client = $server->accept) {
    binmode $client;
    my ($length, @signatures) = (0);
    while (defined(my $line = <$client>)) {
        $line =~ s/\r\n\z//;
        last if $line eq '';
        $length = $1 if $line =~ /\Acontent-length:\s*(\d+)/i;
        push @signatures, $1 if $line =~ /\Ax-service-signature:[ \t]*(.*?)[ \t]*\z/i;
    }
    my $body = '';
    while (length $body < $length) { read($client, $body, $length - length $body, length $body) or last }
    my $good = @signatures == 1 && verified($signatures[0], $body);
    print {$client} $good ? "HTTP/1.0 299 Noted\r\n\r\nnoted" : "HTTP/1.0 400 No\r\n\r\n";
    close $client;
}
