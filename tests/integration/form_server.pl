# SPDX-License-Identifier: GPL-2.0-or-later
# A web server of one form, for inside a jail: GET answers the page on standard input, POST appends the body to the file
# `received`. Returns when it listens: `perl form_server.pl PORT < page.html`.
use strict;
use warnings;
use IO::Socket::INET;

my ($port) = @ARGV;
my $page = do { local $/; <STDIN> };
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 5, ReuseAddr => 1)
    or die "port $port: $@";
exit 0 if fork;
open STDIN, '<', '/dev/null';
open STDOUT, '>', '/dev/null';
open STDERR, '>', '/dev/null';

sub answer {
    my ($client, $status, $body) = @_;
    print $client "HTTP/1.1 $status\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
        . "Content-Length: " . length($body) . "\r\n\r\n$body";
}

while (my $client = $listener->accept) {
    my $request = <$client> // next;
    my ($length, $line, $body) = (0);
    while (defined($line = <$client>) and $line !~ /^\r?\n$/) {
        $length = $1 if $line =~ /^Content-Length:\s*(\d+)/i;
    }
    if ($request =~ m{^GET / }) {
        answer($client, '200 OK', $page);
    } elsif ($request =~ /^POST /) {
        read $client, $body, $length;
        open my $file, '>>', 'received' or die;
        print $file $body;
        close $file;
        answer($client, '200 OK', '<title>received</title><body style="background: #00ff7f">');
    } else {
        answer($client, '404 Not Found', '');
    }
    close $client;
}
