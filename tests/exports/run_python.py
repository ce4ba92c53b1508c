"""Runs an exported Python policy, given by its path: observations in, actions out."""

import importlib.util
import sys

from observations import observations

spec = importlib.util.spec_from_file_location("policy", sys.argv[1])
if spec is None or spec.loader is None:
    raise SystemExit(f"{sys.argv[1]} is no module")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
if len(module.ACTION_NAMES) != len(module.ACTION_VALUES):
    raise SystemExit("names and values of actions differ in number")
for x in observations():
    print(module.policy(x))
