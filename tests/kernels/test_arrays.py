import numpy as np

from frugalsvm.kernels import linalg as arrays
from tests.kernels.compiled import compiled

filled, join, new_marks, part = map(
    compiled, (arrays.filled, arrays.join, arrays.new_marks, arrays.part)
)


def test_arrays_are_created_and_copied():
    np.testing.assert_array_equal(filled(3, 2.5), [2.5, 2.5, 2.5])
    np.testing.assert_array_equal(new_marks(4), np.zeros(4, dtype=np.int8))
    numbers = np.arange(10)
    copied = part(numbers, 3, 4)
    copied[0] = 99
    np.testing.assert_array_equal(numbers, np.arange(10))
    np.testing.assert_array_equal(copied, [99, 4, 5, 6])
    np.testing.assert_array_equal(join(numbers[:2], numbers[7:]), [0, 1, 7, 8, 9])
