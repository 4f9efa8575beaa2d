"""Runs a notebook from its first cell to its last and fails where a cell fails; writes nothing."""

import ast
import sys
from pathlib import Path

import nbclient
import nbformat

path = Path(sys.argv[1]).resolve()
notebook = nbformat.read(path, as_version=4)
nbclient.NotebookClient(
    notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
).execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
for cell in cells:
    # An assignment or an import at the end shows nothing; any other value does.
    last = ast.parse(cell.source.rstrip(";")).body[-1]
    if isinstance(last, ast.Expr) and not cell.source.endswith(";") and not cell.outputs:
        sys.exit(f"a cell of the tutorial shows nothing: {cell.source!r}")
print(f"{path.name}: {len(cells)} cells ran")
