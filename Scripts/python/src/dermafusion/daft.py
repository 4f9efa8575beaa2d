"""Classifies the photographs of a column of a Daft data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _frame
from .errors import ArgumentError


def classify(
    content: Any,
    *,
    path: Any = None,
    model: str | None = None,
    outputs: Sequence[str] = ("result",),
    batch_size: int = 64,
    workers: int | None = None,
    language: str = "en",
    **patient: Any,
) -> Any:
    """An expression with a struct for each row: the columns of `dermafusion.spark.classify`.

        frame = daft.from_glob_path("photographs/*.jpg")
        content = daft.col("path").download(on_error="null")
        frame = frame.with_column("found", classify(content, path=daft.col("path"), model="int8"))

    content: an expression of files' bytes; null makes a row with `error`.
    path: names the images. patient: columns under a table's names for them: `age=daft.col("age")`.
    model, outputs, language: as `dermafusion.spark.classify` has them.
    batch_size: rows at a time. workers: engines at a time, each with one thread; None: as Daft chooses.
    """
    import daft
    import pyarrow

    given = {"content": content, **({} if path is None else {"path": path}), **patient}
    plan = _frame.Plan({name: "string" if name != "content" else "binary" for name in given}, outputs)
    unknown = [name for name in given if name not in plan.read]
    if unknown:
        raise ArgumentError(
            f"classify has no argument {unknown[0]!r}",
            "Name what is known of the patient as tables do: age, sex, site.",
        )
    types = {**dict.fromkeys(plan.kept, "string"), **plan.made}
    struct = pyarrow.struct([(name, _frame.arrow(kind)) for name, kind in types.items()])
    text = daft.DataType.string()
    names = list(given)

    class Classify:
        def __init__(self) -> None:
            _frame.opened(model)

        def classify(self, *columns: Any) -> Any:
            batch = pyarrow.table({name: column.to_arrow() for name, column in zip(names, columns, strict=True)})
            kinds = {field.name: _frame.kind(field.type) for field in batch.schema}
            return _frame.Plan(kinds, outputs, language).table(model, batch).to_struct_array()

        run = daft.method.batch(return_dtype=daft.DataType.from_arrow_type(struct), batch_size=batch_size)(classify)

    engines = daft.cls(Classify, max_concurrency=workers)()
    expressions = {name: each if isinstance(each, daft.Expression) else daft.lit(each) for name, each in given.items()}
    return engines.run(*(each.cast(text) if name in plan.kept else each for name, each in expressions.items()))
