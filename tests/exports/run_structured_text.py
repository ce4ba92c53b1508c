"""Parses an exported Structured Text function, given by its path, and interprets it.

The parser is blark's, which knows nothing of this project. What it understood is then run: only
assignments of whole numbers and IF with a comparison have a meaning here, anything else is an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import blark
from blark import transform as st

from observations import observations


def run(statements: st.StatementList | None, variables: dict[str, float]) -> None:
    """Run the statements on the variables, whose names are in lower case."""
    if statements is None:
        raise SystemExit("a branch is empty")
    for statement in statements.statements:
        match statement:
            case st.AssignmentStatement(
                variables=[st.SimpleVariable() as variable], expression=st.Integer() as integer
            ):
                variables[name(variable)] = int(integer.value)
            case st.IfStatement(else_ifs=[], else_clause=st.ElseClause() as otherwise):
                chosen = (
                    statement.statements
                    if holds(statement.if_expression, variables)
                    else otherwise.statements
                )
                run(chosen, variables)
            case _:
                raise SystemExit(f"cannot run {statement}")


def holds(expression: st.Expression, variables: dict[str, float]) -> bool:
    """Tell whether a comparison holds."""
    match expression:
        case st.BinaryOperation(left=st.SimpleVariable() as variable, right=st.Real() as real):
            if expression.op == ">=" and real.type_name == "LREAL":
                return variables[name(variable)] >= float(real.value)
    raise SystemExit(f"cannot evaluate {expression}")


def name(variable: st.SimpleVariable) -> str:
    """Return the name of a variable; in Structured Text case does not count."""
    return str(variable.name).lower()


def main() -> None:
    """Parse, then run on every observation."""
    source = blark.parse_source_code(Path(sys.argv[1]).read_text(encoding="utf-8")).transform()
    match source.items:
        case [
            st.Function(
                declarations=[st.InputDeclarations() as inputs], body=st.StatementList() as body
            ) as function
        ]:
            pass
        case _:
            raise SystemExit("not one function with inputs and a body")
    if str(function.return_type) != "DINT":
        raise SystemExit(f"the function returns {function.return_type}")
    declared = [variable.variable for item in inputs.items for variable in item.variables]
    names = [name(variable) for variable in declared if isinstance(variable, st.SimpleVariable)]
    for x in observations():
        variables = dict(zip(names, x, strict=True))
        run(body, variables)
        print(variables[str(function.name).lower()])


main()
