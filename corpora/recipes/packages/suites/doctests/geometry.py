"""Areas.

>>> square(3)
9
"""


def square(side):
    """The area of a square.

    >>> square(2)
    4
    >>> square(2.5)
    6.5
    """
    return side * side


def circle(radius):
    """The area of a circle.

    >>> circle(1)
    Traceback (most recent call last):
    ...
    ValueError: pi is not known
    """
    return 3.14 * radius**2


def cube(side):
    """
    >>> cube("2")
    8
    """
    return side**3
