"""Hostile submissions. `ATTACKS` holds them by name; each has a line that says what it tries.

attack.py    the form of an attack, and functions that make one
score.py     unearned points: patched libraries, hooks, lying objects
values.py    values that cannot be compared, modules that lie about what they hold
form.py      right numbers computed in a forbidden way
plain.py     code that looks harmless and is not
forge.py     messages that only the probe should write
snoop.py     spying on what no student may see: gradebook, secret, other people's work, the host, the network
machine.py   bombs, loops and processes, all of them bounded
kernel.py    ways out of the sandbox
files.py     folders, files and names that are not what they should be
cells.py     cells and metadata that differ from what was handed out
pages.py     scripts for the teacher's browser
watch.py     functions that detect what an attack has done

Every attack is tame: even if the sandbox fails, the attack takes a few hundred megabytes for some seconds,
and no more.
"""

from red_team import cells, files, forge, form, kernel, machine, pages, plain, score, snoop, values

MODULES = (score, values, form, plain, forge, snoop, machine, kernel, files, cells, pages)
ATTACKS = {attack.name: attack for module in MODULES for attack in module.ATTACKS}
assert len(ATTACKS) == sum(len(module.ATTACKS) for module in MODULES), "two attacks have one name"
