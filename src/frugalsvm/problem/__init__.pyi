from .certificate import Certificate as Certificate
from .certificate import write_whole as write_whole
from .problem import Problem as Problem
from .solution import decimals_of as decimals_of
from .solution import most_frequent as most_frequent
from .solution import rounded as rounded
