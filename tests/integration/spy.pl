# SPDX-License-Identifier: GPL-2.0-or-later
# spy.pl try WINDOW: does to the display, and to a window of another program, what a hostile client would, and says of each attempt
# "NAME refused" or "NAME done WHAT". spy.pl ask WINDOW: asks the window manager to minimize it and to close it. spy.pl listen WINDOW: asks for the keys of the root, of the window and of all in it, says
# "listening", and then each key that it gets, until its standard input ends. Speaks X11 itself, with the cookie of XAUTHORITY; without one if that is empty.
use strict;
use warnings;
use Socket;

my ($what, $window) = @ARGV;
my ($KEY_PRESS, $KEY_RELEASE) = (1 << 0, 1 << 1);
my @EXTENSIONS = ('XTEST', 'RECORD', 'XInputExtension', 'XKEYBOARD', 'SECURITY', 'Composite', 'DAMAGE', 'RANDR', 'MIT-SHM', 'X-Resource');

# The cookie is the last counted string of the one entry of the authority file.
open(my $file, '<:raw', $ENV{XAUTHORITY}) or die "$ENV{XAUTHORITY}: $!";
my $authority = do { local $/; <$file> } // '';
my ($address, $number, $name, $cookie) = $authority ? unpack('x2 (n/a)4', $authority) : ('') x 4;

socket(my $x, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
connect($x, pack_sockaddr_un('/tmp/.X11-unix/X0')) or die "connect: $!";
binmode $x;
$| = 1;

sub padded { my $text = shift; return $text . "\0" x (-length($text) % 4); }
sub got {
	my ($n, $text) = (shift, '');
	while (length($text) < $n) {
		sysread($x, $text, $n - length($text), length($text)) or die 'the display closed';
	}
	return $text;
}

sub sent {
	my $bytes = join('', @_);
	die 'a request is not of whole words' if length($bytes) % 4;
	syswrite($x, $bytes) == length($bytes) or die "write: $!";
}

syswrite($x, pack('a1 x S S S S x2', 'l', 11, 0, length($name), length($cookie)) . padded($name) . padded($cookie));
my ($ok, $more) = unpack('C x5 S', got(8));
my $setup = got(4 * $more);
die "refused: $setup" unless $ok == 1;
my ($vendor, $formats) = unpack('x16 S x3 C', $setup);
my $root = unpack('L', substr($setup, 32 + $vendor + (-$vendor % 4) + 8 * $formats, 4));

# A request: opcode, the byte beside it, and what follows. Its number.
my $n_sent = 0;
sub request {
	my ($opcode, $data, $rest) = @_;
	sent(pack('C C S', $opcode, $data, 1 + length($rest) / 4), $rest);
	return ++$n_sent & 0xFFFF;
}

# Takes what comes until the reply or the error of the request with this number: the reply, or undef. Keys are told, and in %refused is which
# requests before it had an error.
my %refused;
sub answer {
	my $wanted = shift;
	while (1) {
		my $head = got(32);
		my ($kind, $detail, $number, $length) = unpack('C C S L', $head);
		my $reply = $kind == 1 ? $head . got(4 * $length) : undef;
		$refused{$number} = 1 if $kind == 0;
		return $reply if $kind <= 1 && $number == $wanted;
		print "key $detail\n" if ($kind & 0x7F) == 2;
	}
}

sub asked { return answer(request(@_)); }

# Was it done? One without a reply is followed by one that has one.
sub quiet {
	my $number = request(@_);
	delete $refused{$number};
	asked(43, 0, '');
	return !$refused{$number};
}

sub say_of {
	my ($attempt, $done) = @_;
	print $attempt, ' ', (defined($done) && $done ne '' && $done ne '0' ? "done $done" : 'refused'), "\n";
}

sub atom {
	my $text = shift;
	return unpack('x8 L', asked(16, 0, pack('S x2', length($text)) . padded($text)));
}

# The window and all that are in it, which QueryTree tells anybody.
sub tree {
	my @all = my @left = @_;
	while (@left) {
		my $reply = asked(15, 0, pack('L', shift @left)) // next;
		my @inside = unpack('L*', substr($reply, 32));
		push @all, @inside;
		push @left, @inside;
	}
	return @all;
}

sub select_keys { return quiet(2, 0, pack('L L L', shift, 1 << 11, $KEY_PRESS | $KEY_RELEASE)); }

sub image {
	my $reply = asked(73, 2, pack('L s s S S L', shift, 0, 0, 8, 8, 0xFFFFFFFF)) // return 0;
	return length($reply) > 32 ? 'pixels' : 0;
}

sub extensions {
	return join(',', grep { unpack('x8 C', asked(98, 0, pack('S x2', length) . padded($_))) } @EXTENSIONS);
}

# XTEST's FakeInput, whatever its number is: a press and a release of a key.
sub fake_keys {
	my $done = 0;
	for my $opcode (128 .. 160) {
		for my $press (2, 3) {
			$done += quiet($opcode, 2, pack('C C x2 L L x8 s s x7 x', $press, 38, 0, 0, 0, 0));
		}
	}
	return $done;
}

sub keymap {
	my $reply = asked(44, 0, '') // return 0;
	return substr($reply, 8, 32) =~ /[^\0]/ ? 'held keys' : 0;
}

sub grab {
	my $reply = asked(@_) // return 0;
	return unpack('x C', $reply) == 0 ? 'grabbed' : 0;
}

sub remap {
	return quiet(100, 1, pack('C C x2 L', 38, 1, 0x62)); # the key of "a" says "b"
}

sub property {
	my ($of, $name) = @_;
	return quiet(18, 0, pack('L L L C x3 L', $of, atom($name), 31, 8, 3) . padded('spy'));
}

# The picture of the pointer, of which XFIXES tells everything else.
sub pointer_picture {
	my ($has, $opcode) = unpack('x8 C C', asked(98, 0, pack('S x2', 6) . padded('XFIXES')));
	return 0 unless $has;
	asked($opcode, 0, pack('L L', 4, 0));
	my $reply = asked($opcode, 4, '') // return 0;
	return length($reply) > 32 ? 'pixels' : 0;
}

# What the window manager does with the window, if it hears of it: the server says nothing of messages that it drops.
sub ask_manager {
	my ($name, $number) = @_;
	quiet(25, 0, pack('L L', $root, 3 << 19) . pack('C C S L L L5', 33, 32, 0, $window, atom($name), $number, 0, 0, 0, 0));
}

sub send_key {
	return quiet(25, 1, pack('L L', $window, 0) . pack('C C S L L L L s s s s S C x', 2, 38, 0, 0, $root, $window, 0, 1, 1, 1, 1, 0, 1));
}

# What does no harm to the window comes first: the last ones end it.
my @ATTEMPTS = (
	[extensions      => \&extensions],
	[screen          => sub { image($root) }],
	[window_picture  => sub { image($window) }],
	[fake_keys       => \&fake_keys],
	[held_keys       => \&keymap],
	[grab_keyboard   => sub { grab(31, 0, pack('L L C C x2', $root, 0, 1, 1)) }],
	[grab_pointer    => sub { grab(26, 0, pack('L S C C L L L', $root, 4, 1, 1, 0, 0, 0)) }],
	[grab_key        => sub { quiet(33, 0, pack('L S C C C x3', $root, 1 << 15, 0, 1, 1)) }],
	[grab_button     => sub { quiet(28, 0, pack('L S C C L L C x S', $root, 4, 1, 1, 0, 0, 0, 1 << 15)) }],
	[remap           => \&remap],
	[modifiers       => sub { grab(118, 1, pack('C8', (0) x 8)) }],
	[root_property   => sub { property($root, '_NET_ACTIVE_WINDOW') }],
	[window_property => sub { property($window, '_MOZILLA_COMMANDLINE') }],
	[send_key        => \&send_key],
	[pointer_picture => \&pointer_picture],
	[hosts           => sub { quiet(109, 0, pack('C x S', 5, 12) . padded('localuser:me')) }],
	[access_control  => sub { quiet(111, 0, '') }],
	[destroy         => sub { quiet(4, 0, pack('L', $window)) }],
	[kill            => sub { quiet(113, 0, pack('L', $window)) }],
);

if ($what eq 'ask') {
	ask_manager('WM_CHANGE_STATE', 3);
	ask_manager('_NET_CLOSE_WINDOW', 0);
	exit 0;
}
if ($what eq 'try') {
	say_of($_->[0], $_->[1]->()) for @ATTEMPTS;
	exit 0;
}
select_keys($_) for $root, tree($window);
print "listening\n";
my $ready = '';
vec($ready, fileno($x), 1) = vec($ready, fileno(STDIN), 1) = 1;
while (select(my $now = $ready, undef, undef, undef) >= 0) {
	last if vec($now, fileno(STDIN), 1) && !sysread(STDIN, my $gone, 4096);
	next unless vec($now, fileno($x), 1);
	my ($kind, $detail) = unpack('C C', got(32));
	print "key $detail\n" if ($kind & 0x7F) == 2 || ($kind & 0x7F) == 3;
}
