"""Verbs with their frames.

A row is "English verb | German verb | frame | places". For the verbs' notation see `english_verb` and `german_verb`. A
frame is made of slots: "acc=classes" and "dat=classes" are objects ("dat+to" where English says "to him"),
"preposition+case=classes" is a German prepositional object (the English preposition is the verb's particle), "to" is a
direction, "at" a place without which the verb is not complete, "game" is a game or sport, "none" is no object. Places
are the classes of `places` that the activity goes with. A noun class ending in "-plural" is used in the plural only.
"""

from dataclasses import dataclass
from functools import cache

from examples.demo.corpus.grammar.english import EnglishVerb, english_verb
from examples.demo.corpus.grammar.german import Case, GermanVerb, german_verb

_ROWS = """
eat ate eaten | essen isst gegessen | acc=food | meal home
drink drank drunk | trinken - getrunken | acc=drink | meal home
cook | kochen | acc=dish,dish-plural | kitchen
bake | backen backt gebacken | acc=baked | kitchen
buy bought | kaufen | acc=food,fruit-plural,clothing,clothing-plural,furniture,device,vehicle,printed,gift | shop
sell sold | verkaufen | acc=furniture,device,vehicle,home | shop
need* | brauchen | acc=clothing,furniture,device,possession,need | -
look +for | suchen | acc=possession,luggage,home,position | -
find found | finden - gefunden | acc=possession,luggage,position,found | town outdoors
lose lost | verlieren - verloren | acc=possession | town outdoors
forget forgot forgotten | vergessen vergisst vergessen | acc=possession,appointment | -
read read | lesen liest gelesen | acc=reading | home outdoors
write wrote written | schreiben - geschrieben | acc=written | home
see saw seen | sehen sieht gesehen | acc=kin,animal,show | town outdoors
visit | besuchen | acc=kin,kin-plural,sight | -
invite | ein|laden lädt eingeladen | acc=kin,kin-plural,boss | -
know* knew known | kennen - gekannt | acc=kin,job,eatery,music,story | -
call | an|rufen - angerufen | acc=kin,kin-plural,boss,parent | -
meet met | treffen trifft getroffen | acc=kin,kin-plural,staff | town eating
pick ~up | ab|holen | acc=kin,kin-plural,child | travel
repair | reparieren | acc=device,vehicle,opening | home
clean | putzen | acc=room,opening,clothing-plural | -
wash | waschen wäscht gewaschen | acc=clothing,vehicle | -
open | öffnen | acc=opening,luggage | -
close | schließen - geschlossen | acc=opening,luggage | -
turn ~on | ein|schalten | acc=switched | home
turn ~off | aus|schalten | acc=switched | home
carry | tragen trägt getragen | acc=luggage | -
wear wore worn | tragen trägt getragen | acc=clothing,clothing-plural | -
put put ~on | an|ziehen zieht angezogen | acc=clothing,clothing-plural | -
take took taken | nehmen nimmt genommen | acc=transport,taxi | -
miss | verpassen | acc=transport,departure | -
learn | lernen | acc=language | school
speak* spoke spoken | sprechen spricht gesprochen | acc=language | -
understand* understood | verstehen - verstanden | acc=explained,asked,language | -
explain | erklären | dat+to=kin,child,staff acc=explained | -
play | spielen | game | -
paint | malen | acc=picture | home
build built | bauen | acc=building | -
cut cut | schneiden schneidet geschnitten | acc=baked,fruit | kitchen
feed fed | füttern | acc=animal,pet | -
listen +to | hören | acc=music | home
order | bestellen | acc=food,drink | eating
pay paid | bezahlen | acc=bill | -
book | buchen | acc=journey | -
plan | planen | acc=plan,party | -
bring brought | bringen - gebracht | dat=kin,parent,staff acc=gift,gift-plural,portable | -
give gave given | geben gibt gegeben | dat=kin,parent,child acc=gift,gift-plural,portable,toy | -
show showed shown | zeigen | dat=kin,staff,child acc=sight,gift,room,document,home | -
send sent | schicken | dat=kin,parent,boss acc=written,gift | -
lend lent | leihen - geliehen | dat=kin acc=vehicle,portable,device | -
tell told | erzählen | dat=child,kin acc=story | -
help | helfen hilft geholfen | dat=kin,child,parent | home
thank | danken | dat=kin,kin-plural,staff,job | -
answer | antworten | dat=boss,kin,staff | -
answer | beantworten | acc=answered | -
wait +for | warten | auf+acc=kin,transport,staff | town travel
think thought +of | denken - gedacht | an+acc=kin,kin-plural,parent,anticipated | -
dream +of | träumen | von+dat=journey,home,vehicle,anticipated | -
talk +to | sprechen spricht gesprochen | mit+dat=kin,boss,staff,job | town
look +after | auf|passen | auf+acc=child,pet | -
take took taken +part_in | teil|nehmen nimmt teilgenommen | an+dat=course,event | -
laugh +about | lachen | über+acc=story | -
ask +for | bitten bittet gebeten | um+acc=help,bill | -
care* +for | sich kümmern | um+acc=pet,parent,kin-plural | -
look +forward_to | sich freuen | auf+acc=anticipated,party,plan | -
remember* | sich erinnern | an+acc=kin,anticipated,story,journey | -
be* was been +interested_in | sich interessieren | für+acc=interest | -
hurry | sich beeilen | none | -
rest | sich aus|ruhen | none | home outdoors
sleep slept | schlafen schläft geschlafen | none | home outdoors
work | arbeiten | none | home office
study | studieren | none | city
swim swam swum | schwimmen - geschwommen sein | none | water
dance | tanzen | none | event
sing sang sung | singen - gesungen | none | event home
cry | weinen | none | home
laugh | lachen | none | -
smoke | rauchen | none | outdoors
shop | ein|kaufen | none | shop
watch +TV | fern|sehen sieht ferngesehen | none | home
go went gone +for_a_walk | spazieren_|gehen - spazieren_gegangen sein | none | outdoors
tidy ~up | auf|räumen | acc=room | -
fall fell fallen +asleep | ein|schlafen schläft eingeschlafen sein | none | home
come came come +back | zurück|kommen - zurückgekommen sein | none | -
cancel | ab|sagen | acc=appointment,party | -
fill ~out | aus|füllen | acc=form | -
throw threw thrown ~away | weg|werfen wirft weggeworfen | acc=paper,clothing-plural | -
prepare | vor|bereiten | acc=meal,party | -
bring brought ~along | mit|bringen - mitgebracht | acc=gift,drink,baked | -
go went gone | gehen - gegangen sein | to | near school
walk | laufen läuft gelaufen sein | to | near
drive drove driven | fahren fährt gefahren sein | to | travel city beach
travel | reisen sein | to | city country
fly flew flown | fliegen - geflogen sein | to | city country
move | um|ziehen zieht umgezogen sein | to | city
stay | bleiben - geblieben sein | at | indoors city hotel
live | wohnen | at | city country dwelling
sit sat | sitzen - gesessen | at | indoors outdoors
"""


@dataclass(frozen=True)
class FrameSlot:
    """One object of a verb."""

    kind: str  # "acc", "dat", "prep", "to", "at", "game", "none"
    classes: tuple[str, ...] = ()
    preposition: str = ""
    case: Case = Case.ACCUSATIVE
    with_to: bool = False


@dataclass(frozen=True)
class Verb:
    """A verb in both languages, what objects it takes, and where it is done."""

    english: EnglishVerb
    german: GermanVerb
    frame: tuple[FrameSlot, ...]
    places: tuple[str, ...]

    @property
    def name(self) -> str:
        """The English base with its particle: "pick up"."""
        return f"{self.english.base} {self.english.particle}".strip()

    @property
    def intended(self) -> bool:
        """Whether people do this on purpose, so that it can be wanted, allowed or asked for."""
        return self.name not in _UNINTENDED

    @property
    def planned(self) -> bool:
        """Whether this is worth saying of a season or of the next year."""
        return self.name in _PLANNED

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the frame's slots."""
        return tuple(slot.kind for slot in self.frame)


def _parse_slot(text: str) -> FrameSlot:
    head, _, classes = text.partition("=")
    words = tuple(classes.split(",")) if classes else ()
    if head == "dat+to":
        return FrameSlot("dat", words, with_to=True)
    preposition, plus, case = head.partition("+")
    if plus:
        return FrameSlot("prep", words, preposition, Case.DATIVE if case == "dat" else Case.ACCUSATIVE)
    return FrameSlot(head, words)


def _parse(row: str) -> Verb:
    # A separable prefix is marked by "|" too, but without spaces around it.
    english, german, frame, places = row.strip().split(" | ")
    slots = tuple(_parse_slot(slot) for slot in frame.split())
    return Verb(english_verb(english), german_verb(german), slots, () if places == "-" else tuple(places.split()))


_UNINTENDED = frozenset(
    ("lose", "forget", "find", "miss", "cry", "laugh", "fall asleep", "dream of", "see", "laugh about")
)
_PLANNED = frozenset(
    ("buy", "sell", "build", "plan", "travel", "fly", "move", "visit", "learn", "study", "book", "swim")
)

VERBS: tuple[Verb, ...] = tuple(_parse(row) for row in _ROWS.strip().splitlines())


@cache
def named(english: str) -> Verb:
    """Return the verb whose English base with its particle is `english`: "pick up"."""
    for verb in VERBS:
        if verb.name == english:
            return verb
    raise KeyError(f"no verb {english!r}")


@cache
def with_kinds(*kinds: str) -> tuple[Verb, ...]:
    """Return the verbs whose frames are made of exactly these kinds of slots, in the table's order."""
    return tuple(verb for verb in VERBS if verb.kinds == kinds)
