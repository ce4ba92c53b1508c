"""Checks an exported ONNX model, given by its path, and runs it: observations in, actions out."""

import sys

import numpy as np
import onnx
import onnxruntime

from observations import observations

model = onnx.load(sys.argv[1])
onnx.checker.check_model(model, full_check=True)
if "Decision tree for" not in model.doc_string:
    raise SystemExit("the model does not say what it is")
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
x = np.array(observations(), dtype=np.float64)
(actions,) = session.run(["action"], {"observation": x})
# One at a time is another path through the runtime.
for i in range(min(100, len(x))):
    (alone,) = session.run(["action"], {"observation": x[i : i + 1]})
    if alone.shape != (1,) or alone[0] != actions[i]:
        raise SystemExit(f"observation {i} alone gives {alone}")
for action in actions:
    print(action)
