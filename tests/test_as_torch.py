"""`import gradwright.as_torch` before `import torch`."""

import subprocess
import sys


def test_from_then_on_torch_is_gradwright():
    program = """if True:
        import gradwright.as_torch
        import torch
        from torch.nn import functional as F
        print(torch.__version__.partition("+")[2].startswith("gradwright"), F.relu(torch.tensor(-1.0)).item())
        gradwright.as_torch.uninstall()
        import sys
        print("torch" in sys.modules)
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0.0", "False"]
