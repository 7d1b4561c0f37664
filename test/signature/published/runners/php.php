<?php
// Runs signature vectors against fixtures/receivers/php.php. Arguments: the receiver, the vectors.
declare(strict_types=1);

require $argv[1];

$vectors = json_decode(file_get_contents($argv[2]), true, 512, JSON_THROW_ON_ERROR)['vectors'];
$failed = 0;
foreach ($vectors as $one) {
    $body = base64_decode($one['body'], true);
    $genuine = is_genuine($one['secret'], $one['header'] ?? '', $body, $one['now'], $one['tolerance']);
    if ($one['verdict'] !== 'either' && $genuine !== ($one['verdict'] === 'accepted')) {
        fwrite(STDERR, $one['name'] . "\n");
        $failed += 1;
    }
}
printf("php: %d of %d\n", count($vectors) - $failed, count($vectors));
exit($failed > 0 ? 1 : 0);
