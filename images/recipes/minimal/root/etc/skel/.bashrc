# Commands typed by an agent: a plain prompt, no history written to disk.
PS1='\w\$ '
unset HISTFILE
