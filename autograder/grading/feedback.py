"""What is done to a graded notebook before it becomes a student's feedback page."""

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.verdicts import SCHEME_TAG

STYLE = """
div.rendered_html img, div.output_subarea img { max-width: 100%; height: auto; }
div.rendered_html table { border-collapse: collapse; margin: 1em 0; }
div.rendered_html th, div.rendered_html td { border: 1px solid #ccc; padding: 0.3em 0.8em; }
"""


class FitForStudents(NbGraderPreprocessor):
    """Takes out the marking schemes, and the bare number below a check, which its card says in words. Makes
    pictures and tables fit the page."""

    def preprocess(self, nb, resources):
        nb.cells = [cell for cell in nb.cells if SCHEME_TAG not in cell.metadata.get("tags", [])]
        for cell in nb.cells:
            kind = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and kind.get("grade") and kind.get("locked"):
                cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]
        resources["inlining"]["css"].append(STYLE)
        return nb, resources
