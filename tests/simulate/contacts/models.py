"""Models with contacts that several tests use."""

BALL = """
model ball; coordinates z = {height}; initial z' = {speed}; gravity 0, 0, -9.81;
Ball | Sz(z) | m(1);
contact floor | z >= 0 | restitution({restitution});
"""

BLOCK = """
model block; parameters a = {angle}; coordinates s = 0, n = 0; initial s' = {speed};
gravity 9.81*sin(a), 0, -9.81*cos(a);
Block | Sx(s), Sz(n) | m(2);
contact plane | n >= 0 | friction(0.3), slip(s');
"""

ROD = """
model rod; coordinates x = 0, y = {height}, th = {angle}; initial x' = {vx}, y' = {vy}, th' = {omega};
gravity 0, -{g}, 0;
Rod | Sx(x), Sy(y), Rz(th) | m(2.5), Jz(2.5/12);
output A = Rod (-0.5, 0, 0); output B = Rod (0.5, 0, 0);
"""


def row_of_balls(count: int, moving: int, law: str) -> str:
    """Equal balls that touch, the first ones apart and on their way to the others."""
    places = ", ".join(f"x{k} = {0.1 * k - (0.5 if k < moving else 0)}" for k in range(count))
    speeds = ", ".join(f"x{k}' = 1" for k in range(moving))
    balls = " ".join(f"B{k} | Sx(x{k}) | m(1);" for k in range(count))
    meet = " ".join(f"contact c{k} | x{k + 1} - x{k} - 0.1 >= 0 | restitution(1);" for k in range(count - 1))
    return f"model row; coordinates {places}; initial {speeds}; {balls} {meet} impacts {law};"


def chain(links: int, friction: str = "") -> str:
    """A chain of links in a vertical plane that falls on a floor, with a contact at every joint and end."""
    angles = ", ".join(f"q{k} = {0.3 * k - 0.5}" for k in range(links))
    bodies = [f"L{k}{f' ~ L{k - 1}' if k else ''} | {'Sx(0.5)' if k else 'Sx(x), Sz(z)'}, Ry(q{k}) "
              "| Sx(0.25), m(1), Jy(0.02);" for k in range(links)]  # fmt: skip
    points = ["output P0 = L0 (0, 0, 0);", *(f"output P{k + 1} = L{k} (0.5, 0, 0);" for k in range(links))]
    slip = (lambda k: f", friction({friction}), slip(P{k}.x')") if friction else lambda k: ""
    meet = [f"contact f{k} | P{k}.z >= 0 | restitution(0.4){slip(k)};" for k in range(links + 1)]
    head = f"model chain; coordinates x = 0, z = 1.2, {angles}; gravity 0, 0, -9.81;"
    return " ".join([head, *bodies, *points, *meet])
