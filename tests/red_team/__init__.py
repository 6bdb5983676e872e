"""Hostile submissions. `ATTACKS` holds them by name; each has a line that says what it tries.

attack.py    what an attack is, and how it is handed in
score.py     unearned points: patched libraries, hooks, lying objects
values.py    values that cannot be compared, modules that lie about what they hold
form.py      right numbers computed in a forbidden way
plain.py     code that looks plain and is not
forge.py     messages that only the probe should write
snoop.py     reading what nobody may see: gradebook, secret, other people's work, the host, the network
machine.py   bombs, loops and processes, all of them bounded
kernel.py    ways out of the sandbox
files.py     folders, files and names that are not what they should be
cells.py     cells and metadata that differ from what was handed out
pages.py     scripts for the teacher's browser
watch.py     how the harm done by an attack is detected

Every attack is tame: if a sandbox fails, it costs a few hundred megabytes for some seconds, and no more.
"""

from red_team import cells, files, forge, form, kernel, machine, pages, plain, score, snoop, values

MODULES = (score, values, form, plain, forge, snoop, machine, kernel, files, cells, pages)
ATTACKS = {attack.name: attack for module in MODULES for attack in module.ATTACKS}
assert len(ATTACKS) == sum(len(module.ATTACKS) for module in MODULES), "two attacks have one name"
