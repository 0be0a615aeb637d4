"""Feature maps as one picture, and the picture as PNG."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from tb_layerflow.log.montage import montage, png


def test_zero_is_white_and_the_largest_magnitude_is_full_colour() -> None:
    maps = np.zeros((2, 2, 1), np.float32)
    maps[0, 0, 0], maps[1, 1, 0] = 4.0, -4.0
    picture = montage(maps)
    assert picture[0, 1].tolist() == [255, 255, 255]
    assert picture[0, 0].tolist() == [196, 80, 12]
    assert picture[1, 1].tolist() == [36, 104, 180]


def test_maps_stand_in_a_square_grid_with_a_gap() -> None:
    assert montage(np.ones((5, 7, 4), np.float32)).shape == (5 + 1 + 5, 7 + 1 + 7, 3)


def test_what_is_not_finite_is_grey_and_does_not_move_the_scale() -> None:
    picture = montage(np.array([[[np.nan], [2.0]]], np.float32))
    assert picture[0, 0].tolist() == [128, 128, 128]
    assert picture[0, 1].tolist() == [196, 80, 12]


def test_a_png_decodes_to_the_same_picture() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (9, 13, 3), np.uint8)
    decoded = np.asarray(Image.open(io.BytesIO(png(picture))))
    np.testing.assert_array_equal(decoded, picture)
