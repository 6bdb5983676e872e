"""explore(draw, name=choices, ...): a figure that follows its sliders and menus.

    explore(lambda scale, word: figures.one_query(...), scale=(0.0, 4.0, 0.1, 0.5), word=["dog", "saw"])

A tuple (lowest, highest, step, start) makes a slider for the mouse and a field for the keyboard, in which the
arrow keys change the value by a step, repeatedly while they are held. A list makes a menu that starts at its
first entry. Field and menu are the browser's own controls, whose names a screen reader can read. The cell's
output holds the live widget and a PNG of the start, so that a stored notebook, or one without live widgets,
still shows the figure. Without ipywidgets, the output is the figure at its start and one line that says so.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from autograder.errors import UserError
from autograder.faults import entry_point, is_own_fault, trust_boundary

if TYPE_CHECKING:
    from ipywidgets import VBox

    from autograder.notebook.figures import Picture

Choice = tuple[float, float, float, float] | list
EXAMPLE = "explore(lambda scale: figures.weights(...), scale=(0.0, 4.0, 0.1, 0.5))"
SLIDER = "autograder-slider"
# subtle: the handle of an ipywidgets slider (8.1) has no name for a screen reader. Hidden, it is reached neither by a
# screen reader nor by Tab; both reach the field instead. Its `::before` stays visible and can be dragged.
STYLE = f"""<style>
.{SLIDER} .noUi-handle {{ visibility: hidden; }}
.{SLIDER} .noUi-handle::before {{
    content: ""; visibility: visible; position: absolute; display: block; inset: -1px; width: auto; height: auto;
    border-radius: 50%; background: var(--jp-brand-color1, #1976d2); cursor: grab;
}}
</style>"""


@entry_point(EXAMPLE)
def explore(draw: Callable[..., Picture], **choices: Choice) -> Explorer:
    """Return a displayable explorer of `draw(**values)`.

    Raises UserError if there are no choices, if a choice is neither a list nor a valid tuple (lowest,
    highest, step, start), or if `draw` cannot be called with the names in `choices`, raises an error, or does
    not return a figure.
    """
    if not callable(draw):
        raise UserError(
            f"explore needs a function as its first argument, as in {EXAMPLE}; yours is of type "
            f"{type(draw).__name__}."
        )
    if not choices:
        raise UserError(f"explore needs at least one choice, as in {EXAMPLE}.")
    start = {name: _start(name, choice) for name, choice in choices.items()}
    try:
        inspect.signature(draw).bind(**start)
    except TypeError as error:
        given = ", ".join(choices)
        raise UserError(f"explore cannot call your function with {given}: {error}.") from None
    except ValueError:  # a function in C may have no signature
        pass
    try:
        return Explorer(draw, choices, start)
    except Exception as error:  # the learner's function may raise anything
        if is_own_fault(error) or hasattr(error, "_render_traceback_"):
            raise
        raise UserError(
            f"explore called your function with {_in_words(start)}, and it raised {_told(error)}."
        ) from None


def _in_words(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r:.60}" for name, value in values.items())


def _told(error: Exception) -> str:
    """Return the error as text, with the learner's line that it comes from."""
    from autograder.probe.guard import describe

    found = describe(error)
    line = f" (line {found['line']}: {found['code']})" if found["line"] else ""
    return f"{found['type']}: {found['text']}{line}"


def _start(name: str, choice: Choice) -> Any:
    if isinstance(choice, list) and choice:
        return choice[0]
    if (
        isinstance(choice, tuple)
        and len(choice) == 4
        and all(type(value) in (int, float) and math.isfinite(value) for value in choice)
    ):
        low, high, step, start = choice
        if low <= start <= high and low < high and step > 0:
            return start
    raise UserError(
        f"{name} should be four numbers (lowest, highest, step, start) or a list of choices, not {choice!r:.60}."
    )


class Explorer:
    """A figure that a notebook can display together with its sliders and menus."""

    def __init__(self, draw: Callable[..., Picture], choices: dict[str, Choice], start: dict[str, Any]):
        self.draw, self.choices = draw, choices
        self.start = self._drawn(start)

    @trust_boundary
    def _drawn(self, values: dict[str, Any]) -> Picture:
        picture = self.draw(**values)
        if not hasattr(picture, "html"):
            raise UserError(
                "explore's function should return a figure, as figures.weights(...) does; this one returned "
                f"{type(picture).__name__}."
            )
        return picture

    def widget(self) -> VBox:
        """Return the live widget: sliders and menus above the figure that they change.

        subtle: ipywidgets' own Image has no alternative text, so the figure is HTML.
        """
        import ipywidgets

        controls = {name: _control(ipywidgets, name, choice) for name, choice in self.choices.items()}
        rows = [_row(ipywidgets, control) for control in controls.values()]
        figure = ipywidgets.HTML(self.start.html(), layout={"max_width": "98%"})

        def chosen(name):
            choice, value = self.choices[name], controls[name].value
            return choice[value] if isinstance(choice, list) else value

        def follow(_change):
            try:
                figure.value = self._drawn({name: chosen(name) for name in controls}).html()
            except Exception as error:  # else a learner would see the previous figure, without explanation
                figure.value = f"<pre>{escape(f'{type(error).__name__}: {error}')}</pre>"

        for control in controls.values():
            control.observe(follow, names="value")
        style = ipywidgets.HTML(STYLE, layout={"display": "none"})
        return ipywidgets.VBox([*rows, figure, style], layout={"align_items": "flex-start"})

    @entry_point()
    def _repr_mimebundle_(self, include=None, exclude=None):
        data, metadata = self.start._repr_mimebundle_()
        try:
            live = self.widget()
        except ImportError:
            print(
                "The sliders and menus need ipywidgets (pip install ipywidgets); "
                "here is the figure with its starting values."
            )
        else:
            # Assembled by hand: ipywidgets 7, which Colab has, makes no MIME bundle.
            view = {"version_major": 2, "version_minor": 0, "model_id": live.model_id}
            data["application/vnd.jupyter.widget-view+json"] = view
        return data, metadata

    def __repr__(self):
        return f"<explorer: {', '.join(self.choices)}; {self.start.alt}>"


def _control(ipywidgets, name: str, choice: Choice):
    """Return a menu, or a number field labelled with its range."""
    style, name = {"description_width": "210px"}, name.replace("_", " ")
    if isinstance(choice, list):
        layout = {"width": "550px", "max_width": "98%"}
        # An entry may be any object, even a tensor, which ipywidgets cannot compare: so its position is the value.
        options = [(f"{entry}"[:60], place) for place, entry in enumerate(choice)]
        return ipywidgets.Dropdown(options=options, value=0, description=name, style=style, layout=layout)
    low, high, step, start = choice
    whole = all(isinstance(value, int) for value in choice)
    kind = ipywidgets.BoundedIntText if whole else ipywidgets.BoundedFloatText
    name, layout = f"{name} ({low:g} to {high:g})", {"width": "320px"}
    return kind(min=low, max=high, step=step, value=start, description=name, style=style, layout=layout)


def _row(ipywidgets, control):
    """Return a menu as it is, or a number field with a slider beside it; field and slider move together."""
    if isinstance(control, ipywidgets.Dropdown):
        return control
    kind = ipywidgets.IntSlider if isinstance(control, ipywidgets.BoundedIntText) else ipywidgets.FloatSlider
    limits = {name: getattr(control, name) for name in ("min", "max", "step", "value")}
    slider = kind(**limits, readout=False, layout={"width": "230px"})
    slider.add_class(SLIDER)
    exact = (lambda value: value, lambda value: round(value, 9))  # a slider sends 2.5000000000000004
    ipywidgets.link((control, "value"), (slider, "value"), transform=exact)
    return ipywidgets.HBox([control, slider], layout={"flex_flow": "row wrap", "max_width": "98%"})
