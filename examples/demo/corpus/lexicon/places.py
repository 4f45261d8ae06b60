"""Places, as where one is and where one goes to; names of people, cities and countries.

German tells the two apart by case ("in der Küche", "in die Küche") or preposition ("in Berlin", "nach Berlin"). A row
is "English place | German place | English direction | German direction | classes"; "-" is a missing direction.
"""

from dataclasses import dataclass
from functools import cache

from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase, proper_name

_ROWS = """
in the kitchen | in der Küche | into the kitchen | in die Küche | home meal indoors kitchen
in the living room | im Wohnzimmer | into the living room | ins Wohnzimmer | home indoors
at home | zu Hause | home | nach Hause | home meal near indoors kitchen
in the garden | im Garten | into the garden | in den Garten | outdoors near meal indoors
on the balcony | auf dem Balkon | - | - | outdoors meal indoors
in the park | im Park | to the park | in den Park | outdoors near town
in the forest | im Wald | into the forest | in den Wald | outdoors near
in the city | in der Stadt | to the city | in die Stadt | town travel shop near
in the supermarket | im Supermarkt | to the supermarket | in den Supermarkt | shop near town
at the market | auf dem Markt | to the market | auf den Markt | shop near town
at the bakery | in der Bäckerei | to the bakery | in die Bäckerei | near
in the library | in der Bibliothek | to the library | in die Bibliothek | near
in the museum | im Museum | to the museum | ins Museum | near
in the restaurant | im Restaurant | to the restaurant | ins Restaurant | meal eating near
in the café | im Café | to the café | ins Café | eating near
at the cinema | im Kino | to the cinema | ins Kino | near
at the theatre | im Theater | to the theatre | ins Theater | near
at school | in der Schule | to school | in die Schule | school
at university | an der Universität | to university | zur Universität | school
in the office | im Büro | to the office | ins Büro | office near
in a factory | in einer Fabrik | - | - | office
in a hospital | in einem Krankenhaus | - | - | office
at the train station | am Bahnhof | to the train station | zum Bahnhof | travel near town
at the airport | am Flughafen | to the airport | zum Flughafen | travel
at the bus stop | an der Haltestelle | to the bus stop | zur Haltestelle | near
in the swimming pool | im Schwimmbad | to the swimming pool | ins Schwimmbad | water near
in the lake | im See | - | - | water
in the sea | im Meer | - | - | water
at the beach | am Strand | to the beach | an den Strand | beach outdoors
in a hotel | in einem Hotel | - | - | hotel
in bed | im Bett | to bed | ins Bett | indoors school
at the party | auf der Party | to the party | auf die Party | event
at the wedding | auf der Hochzeit | - | - | event
in Berlin | in Berlin | to Berlin | nach Berlin | city
in Hamburg | in Hamburg | to Hamburg | nach Hamburg | city
in Munich | in München | to Munich | nach München | city
in Cologne | in Köln | to Cologne | nach Köln | city
in Vienna | in Wien | to Vienna | nach Wien | city
in London | in London | to London | nach London | city
in Paris | in Paris | to Paris | nach Paris | city
in Rome | in Rom | to Rome | nach Rom | city
in Germany | in Deutschland | to Germany | nach Deutschland | country
in Italy | in Italien | to Italy | nach Italien | country
in France | in Frankreich | to France | nach Frankreich | country
in Spain | in Spanien | to Spain | nach Spanien | country
in Switzerland | in der Schweiz | to Switzerland | in die Schweiz | country
in a small village | in einem kleinen Dorf | - | - | dwelling
in the country | auf dem Land | - | - | dwelling
in a big house | in einem großen Haus | - | - | dwelling
in the mountains | in den Bergen | to the mountains | in die Berge | beach
"""


@dataclass(frozen=True)
class Place:
    """A place: where one is ("at home"), and where one goes to, if that can be said."""

    location: Phrase
    direction: Phrase | None
    classes: tuple[str, ...]


def _parse(row: str) -> Place:
    location, german_location, direction, german_direction, classes = (cell.strip() for cell in row.split("|"))
    going = None if direction == "-" else Phrase(direction, german_direction)
    return Place(Phrase(location, german_location), going, tuple(classes.split()))


PLACES: tuple[Place, ...] = tuple(_parse(row) for row in _ROWS.strip().splitlines())


@cache
def locations(*classes: str) -> tuple[Phrase, ...]:
    """Return where one is, for the places of any of the classes."""
    return tuple(place.location for place in PLACES if set(place.classes) & set(classes))


@cache
def directions(*classes: str) -> tuple[Phrase, ...]:
    """Return where one goes to, for the places of any of the classes."""
    return tuple(place.direction for place in PLACES if place.direction and set(place.classes) & set(classes))


_WOMEN = ["Anna", "Maria", "Sophie", "Laura", "Emma", "Julia", "Lena", "Sarah"]
_MEN = ["Peter", "Paul", "Thomas", "Jonas", "Max", "David", "Felix", "Daniel"]
_SURNAMES = ["Schmidt", "Weber", "Fischer", "Meyer", "Wagner", "Becker"]

FIRST_NAMES: tuple[NounPhrase, ...] = tuple(
    proper_name(name, person) for names, person in ((_WOMEN, Person.SHE), (_MEN, Person.HE)) for name in names
)
WOMEN = FIRST_NAMES[: len(_WOMEN)]
MEN = FIRST_NAMES[len(_WOMEN) :]
SURNAMES: tuple[NounPhrase, ...] = tuple(
    proper_name(f"{english} {name}", person, f"{german} {name}", f"{oblique} {name}")
    for name in _SURNAMES
    for english, person, german, oblique in (("Mr", Person.HE, "Herr", "Herrn"), ("Mrs", Person.SHE, "Frau", "Frau"))
)
CITIES: tuple[Phrase, ...] = tuple(
    Phrase(place.location.english.removeprefix("in "), place.location.german.removeprefix("in "))
    for place in PLACES
    if "city" in place.classes
)
