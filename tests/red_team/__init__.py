"""Hostile submissions. `ATTACKS` has them by name; each has a line that says what it tries.

attack.py    what an attack is, and how it is handed in
score.py     points that were not earned: patched libraries, hooks, lying objects
values.py    values that cannot be compared, modules that lie about what they hold
form.py      right numbers in a way that is forbidden
plain.py     code that seems plain and is not
forge.py     messages that only the probe should write
snoop.py     what nobody handed in: gradebook, secret, other people's work, the host, the network
machine.py   bombs, loops and processes, all of them bounded
kernel.py    ways out of the sandbox
files.py     folders, files and names that are not what they should be
cells.py     cells and metadata that are not what was given out
pages.py     scripts for the teacher's browser
watch.py     how the harm of an attack is detected

Every attack is tame: a sandbox that fails loses a few hundred megabytes for some seconds, and no more.
"""

from red_team import cells, files, forge, form, kernel, machine, pages, plain, score, snoop, values

MODULES = (score, values, form, plain, forge, snoop, machine, kernel, files, cells, pages)
ATTACKS = {attack.name: attack for module in MODULES for attack in module.ATTACKS}
assert len(ATTACKS) == sum(len(module.ATTACKS) for module in MODULES), "two attacks have one name"
