"""Functions of neural networks, with torch's names and arguments; the op table has what they compute.

Those of the table that take torch's arguments as they are stand in `_DIRECT`; the others say how.
"""

from .._C import _functions as _rows

#: Rows of the table as they are.
_DIRECT = """batch_norm channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d group_norm layer_norm linear logsigmoid one_hot pixel_shuffle pixel_unshuffle rms_norm softplus softsign tanhshrink""".split()
for _name in _DIRECT:
    if _name in _rows:
        globals()[_name] = _rows[_name]

from ._activations import *  # noqa: E402, F403
from ._attention import *  # noqa: E402, F403
from ._layers import *  # noqa: E402, F403
from ._losses import *  # noqa: E402, F403
from ._spatial import *  # noqa: E402, F403
