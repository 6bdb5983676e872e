"""Which steps' results a tensor holds, also where it was written to through another view of the same numbers."""

from autograder.graph.steps import storage_of


class Provenance:
    """Everything by the id of a tensor; the tensors are kept, so an id means one tensor."""

    def __init__(self):
        self._origin = {}  # id of tensor -> (steps, time)
        self._writes = {}  # storage -> [(time, step)]: what was written through any view
        self._owner = {}  # storage -> step that first had it
        self._alive = []

    def __contains__(self, tensor):
        return id(tensor) in self._origin

    def settle(self, tensor, steps, wrote=None):
        """From now on the tensor counts as the result of these steps."""
        self._alive.append(tensor)
        now, storage = len(self._alive), storage_of(tensor)
        self._origin[id(tensor)] = (steps, now)
        if storage is not None:
            self._owner.setdefault(storage, steps[0])
            if wrote is not None:
                self._writes.setdefault(storage, []).append((now, wrote))

    def of(self, tensor):
        """The steps whose results a known tensor holds now."""
        steps, time = self._origin[id(tensor)]
        later = [step for moment, step in self._writes.get(storage_of(tensor), ()) if moment > time]
        return tuple(dict.fromkeys((*steps, *later)))

    def owner(self, tensor):
        """The step that first had these numbers in memory, whatever view of them this is."""
        return self._owner.get(storage_of(tensor))
