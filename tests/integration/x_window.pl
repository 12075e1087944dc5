# SPDX-License-Identifier: GPL-2.0-or-later
# x_window.pl COUNT [PROPERTY TYPE HEX]…: maps COUNT windows with these properties (8 bits a unit), as bytes that no toolkit would
# let through, and goes to the background with them. Speaks X11 itself, so that the image needs no library. WM_CLASS given in parts
# is one property: write its NUL bytes as 00. With NOISE=WIDTHxHEIGHT they have this size, lie in the corner without manager, and show random
# pixels that repeat only after 64 rows: more than a PNG looks back.
use strict;
use warnings;
use Socket;

my $count = shift;
my @wanted = @ARGV;

# The cookie is the last counted string of the one entry of the authority file.
open(my $file, '<:raw', $ENV{XAUTHORITY}) or die "$ENV{XAUTHORITY}: $!";
my $authority = do { local $/; <$file> };
my ($address, $number, $name, $cookie) = unpack('x2 (n/a)4', $authority);

# The one who connects is who the display knows the windows by: the child.
pipe(my $told, my $tell) or die "pipe: $!";
if (fork) {
	close($tell);
	exit(defined(readline($told)) ? 0 : 1);
}
close($told);

socket(my $x, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
connect($x, pack_sockaddr_un('/tmp/.X11-unix/X0')) or die "connect: $!";
binmode $x;

sub padded { my $text = shift; return $text . "\0" x (-length($text) % 4); }
sub sent { syswrite($x, $_) == length or die "write: $!" for @_; }
sub got {
	my ($n, $text) = (shift, '');
	while (length($text) < $n) {
		sysread($x, $text, $n - length($text), length($text)) or die 'the display closed';
	}
	return $text;
}

sent(pack('a1 x S S S S x2', 'l', 11, 0, length($name), length($cookie)) . padded($name) . padded($cookie));
my ($ok, $more) = unpack('C x5 S', got(8));
my $setup = got(4 * $more);
die "refused: $setup" unless $ok == 1;
my ($base, $vendor, $formats) = unpack('x4 L x8 S x3 C', $setup);
my $screen = 32 + $vendor + (-$vendor % 4) + 8 * $formats;
my $root = unpack('L', substr($setup, $screen, 4));

# The next reply; events and errors on the way are passed over.
sub reply {
	while (1) {
		my $head = got(32);
		my ($kind, $length) = unpack('C x3 L', $head);
		return $head . got(4 * $length) if $kind == 1;
		die 'an X error ' . unpack('x C', $head) if $kind == 0;
	}
}
sub atom {
	my $text = shift;
	sent(pack('C C S S x2', 16, 0, 2 + length(padded($text)) / 4, length($text)) . padded($text));
	return unpack('x8 L', reply());
}

# A window whose background is a pixmap of random pixels.
sub noise_window {
	my ($window, $width, $height) = @_;
	my ($pixmap, $gc) = ($base + 0x10000, $base + 0x10001);
	open(my $random, '<:raw', '/dev/urandom') or die "urandom: $!";
	sent(pack('C C S L L S S', 53, 24, 4, $pixmap, $root, $width, 64), pack('C C S L L L', 55, 0, 4, $gc, $pixmap, 0));
	for my $row (0 .. 63) {
		read($random, my $pixels, 4 * $width) == 4 * $width or die 'urandom ended';
		sent(pack('C C S L L S S s s C C x2', 72, 2, 6 + $width, $pixmap, $gc, $width, 1, 0, $row, 0, 24) . $pixels);
	}
	sent(pack('C C S L L s s S S S S L L L L', 1, 0, 10, $window, $root, 0, 0, $width, $height, 0, 1, 0, 0x201, $pixmap, 1));
}

my @properties;
while (my ($property, $type, $hex) = splice(@wanted, 0, 3)) {
	push @properties, [atom($property), atom($type), pack('H*', $hex)];
}
for my $i (0 .. $count - 1) {
	my $window = $base + 1 + $i;
	if (($ENV{NOISE} // '') =~ /^(\d+)x(\d+)$/) {
		noise_window($window, $1, $2);
	} else {
		sent(pack('C C S L L s s S S S S L L', 1, 0, 8, $window, $root, 20 + $i % 500, 30 + $i % 300, 100, 60, 0, 1, 0, 0));
	}
	for (@properties) {
		my ($property, $type, $bytes) = @$_;
		sent(pack('C C S L L L C x3 L', 18, 0, 6 + length(padded($bytes)) / 4, $window, $property, $type, 8, length($bytes)) . padded($bytes));
	}
	sent(pack('C C S L', 8, 0, 2, $window));
}
sent(pack('C C S', 43, 0, 1)); # GetInputFocus: all has been handled
reply();
syswrite($tell, "mapped\n");
close($tell);
close(STDOUT);
close(STDERR);
1 while sysread($x, my $events, 65536);
