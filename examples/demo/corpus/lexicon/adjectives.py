"""Adjectives.

A row is "English [comparative superlative] | German [comparative superlative] [=stem] | classes". English without forms
compares with more and most; German without forms adds -er and -st. The classes are the nouns' that the adjective goes
with; "colour" marks colours, "state" what people are for a while, and "trait" what they are like.
"""

from functools import cache

from examples.demo.corpus.grammar.phrases import Adjective

_ROWS = """
big bigger biggest | groß größer größt | clothing furniture vehicle building thing animal room luggage town gift
small smaller smallest | klein | clothing furniture device vehicle building thing animal room luggage child settlement
new newer newest | neu neuer neuest | clothing furniture device vehicle building thing reading luggage abstract boss
old older oldest | alt älter ältest | clothing furniture device vehicle building thing reading animal adult settlement
young younger youngest | jung jünger jüngst | adult child job
beautiful | schön | clothing furniture home gift outdoors nature music settlement anticipated gift-plural party sight
expensive | teuer teurer teuerst =teur | clothing furniture device vehicle home gift eatery clothing-plural
cheap cheaper cheapest | billig | clothing furniture device vehicle eatery clothing-plural luggage
modern | modern | furniture device building home eatery
comfortable | bequem | furniture footwear clothing clothing-plural
heavy heavier heaviest | schwer | luggage furniture
warm warmer warmest | warm wärmer wärmst | clothing clothing-plural meal room
fresh fresher freshest | frisch | fresh fruit
sweet sweeter sweetest | süß süßer süßest | fruit
cold colder coldest | kalt kälter kältest | drink
hot hotter hottest | heiß heißer heißest | hot-drink
good better best | gut besser best | food drink reading show abstract eatery position music job story meal
interesting | interessant interessanter interessantest | reading show story sight position event
boring | langweilig | reading show story event
important | wichtig | abstract appointment written
difficult | schwierig | explained
easy easier easiest | einfach | explained
long longer longest | lang länger längst | reading written story journey show street
short shorter shortest | kurz kürzer kürzest | reading written story journey show
famous | berühmt berühmter berühmtest | sight show
friendly friendlier friendliest | freundlich | staff job adult trait boss
nice nicer nicest | nett netter nettest | staff job kin trait boss
tall taller tallest | groß größer größt | trait
clever cleverer cleverest | klug klüger klügst | trait child
lazy lazier laziest | faul | trait animal
rich richer richest | reich | trait
hungry hungrier hungriest | hungrig | state animal
thirsty thirstier thirstiest | durstig | state
tired | müde müder müdest =müd | state
happy happier happiest | glücklich | state
sad sadder saddest | traurig | state
ill | krank kränker kränkst | state
healthy healthier healthiest | gesund gesünder gesündest | state
busy busier busiest | beschäftigt | state
nervous | nervös | state
angry angrier angriest | wütend wütender wütendst | state
red | rot | colour coloured-fruit clothing clothing-plural vehicle thing furniture luggage gift-plural
blue | blau | colour clothing clothing-plural vehicle thing furniture luggage
green | grün | colour coloured-fruit clothing clothing-plural vehicle thing furniture luggage
yellow | gelb | colour clothing clothing-plural vehicle thing furniture gift-plural
black | schwarz | colour clothing clothing-plural vehicle thing furniture luggage pet
white | weiß | colour clothing clothing-plural vehicle thing furniture pet gift-plural
brown | braun | colour clothing clothing-plural furniture luggage pet
dark darker darkest | dunkel dunkler dunkelst =dunkl | room street
quiet quieter quietest | ruhig | room street settlement home eatery
clean cleaner cleanest | sauber | room clothing
dirty dirtier dirtiest | schmutzig | clothing clothing-plural vehicle room opening
empty emptier emptiest | leer | luggage
"""


def _parse(row: str) -> Adjective:
    english, german, classes = (cell.split() for cell in row.split("|"))
    stem = german.pop()[1:] if german[-1].startswith("=") else german[0]
    word, *forms = german
    comparative, superlative = forms or (stem + "er", word + ("est" if word[-1] in "dtsßz" else "st"))
    base, *degrees = english
    more, most = degrees or (f"more {base}", f"most {base}")
    return Adjective(base, more, most, word, stem, comparative, superlative, tuple(classes))


ADJECTIVES: tuple[Adjective, ...] = tuple(_parse(row) for row in _ROWS.strip().splitlines())


@cache
def of_class(*classes: str) -> tuple[Adjective, ...]:
    """Return the adjectives that go with any of the classes, in the table's order."""
    return tuple(adjective for adjective in ADJECTIVES if set(adjective.classes) & set(classes))


@cache
def named(english: str) -> Adjective:
    """Return the adjective whose English is `english`."""
    for adjective in ADJECTIVES:
        if adjective.english == english:
            return adjective
    raise KeyError(f"no adjective {english!r}")
