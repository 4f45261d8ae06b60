"""Labels of points: next to their point, and on no other label or point."""

from benchmarks.pictures.labels import Label, draw_labels, spread
from benchmarks.pictures.svg import Box, Drawing


def test_neighbours_are_moved_apart_in_their_order() -> None:
    places = spread([50.0, 10.0, 12.0, 11.0], 20.0)
    assert places[1] < places[3] < places[2] < places[0]
    assert all(abs(one - other) > 19.9 for one in places for other in places if one != other)


def test_labels_of_close_points_do_not_cover_each_other() -> None:
    drawing = Drawing(400, "title", "description")
    points = [(300.0 + 8 * number, 200.0) for number in range(5)]
    draw_labels(drawing, [Label(point, "some label") for point in points], points, Box(0, 0, 960, 400))
    lines = [line for line in drawing.svg().splitlines() if "some label" in line]
    places = {tuple(part.split('"')[1] for part in line.split(" ")[1:3]) for line in lines}
    assert len(places) == len(points)
