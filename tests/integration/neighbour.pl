#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Looks for words in all that a program of a session can read: neighbour.pl WORD…; a line "PLACE: WORD" for each find.
use strict;
use warnings;
use File::Find;

my @words = map { quotemeta } @ARGV;
my $any = join '|', @words;
my $most = 4 << 20;    # of one file

sub look {
	my ($place, $text) = @_;
	print "$place: $1\n" while $text =~ /($any)/g;
}

sub look_file {
	my ($path) = @_;
	sysopen(my $file, $path, 0x800) or return;    # O_NONBLOCK
	my $text = '';
	1 while length $text < $most and sysread $file, $text, 65536, length $text;
	close $file;
	look($path, $text);
}

# Files, and their names.
find({no_chdir => 1, wanted => sub {
	look('name', $_);
	look_file($_) if -f $_ and not -l $_;
}}, grep { -d } qw(/home /tmp /var/tmp /run /dev/shm /etc /var/lib /var/log /var/spool /root /mnt /media /srv /opt));
# What the kernel tells: of each process, and of all.
for my $path (glob('/proc/[0-9]*/{cmdline,environ,comm,status,stat,cgroup,mountinfo,maps,limits,sched,loginuid,net/unix,net/tcp,net/tcp6,net/udp,net/netlink}'),
	glob('/proc/*'), glob('/proc/sysvipc/*'), glob('/proc/net/*'), glob('/proc/sys/kernel/*'), glob('/proc/sys/kernel/random/*'), glob('/proc/fs/*')) {
	next if -d $path or $path =~ m{/proc/(kmsg|kcore|kpage)} or $path =~ m{/(uuid)$};
	look_file($path);
}
for my $link (glob('/proc/[0-9]*/{exe,cwd,root,ns/*,fd/*}')) {
	my $to = readlink $link;
	look($link, $to) if defined $to;
}
# The environment, and the clocks of the last use of what all sessions share.
look('environment', join "\n", map { "$_=$ENV{$_}" } keys %ENV);
my @processes;
for my $path (glob('/proc/[0-9]*/comm')) {
	open(my $file, '<', $path) or next;
	push @processes, <$file> =~ s/\s+//gr;
}
print join(' ', 'variables:', sort keys %ENV), "\n", join(' ', 'processes:', sort @processes), "\n";
# The kernel's keyrings: add_key, keyctl, request_key.
for my $call (248, 249, 250) {
	my $rc = syscall($call, 0, 0, 0, 0, 0);
	print "keyring: system call $call is answered\n" if $rc >= 0 or ($! != 1 and $! != 38);
}
print "done\n";
