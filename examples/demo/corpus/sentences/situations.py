"""Everyday situations: shopping, prices, health, the weather."""

from dataclasses import replace

from examples.demo.corpus.draw import Draw
from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import numbers
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Predicate, sentence
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.german import Agreement, Case
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import nouns, places, times, verbs
from examples.demo.corpus.sentences import choices, subordinate, words

# Containers: English singular, plural, German singular, plural after a number, gender, classes of what they hold.
_SERVED = (
    ("a cup of", "cups of", "Tasse", "Tassen", Agreement.FEMININE, ("hot-drink",)),
    ("a glass of", "glasses of", "Glas", "Gläser", Agreement.NEUTER, ("cold-drink",)),
    ("a piece of", "pieces of", "Stück", "Stücke", Agreement.NEUTER, ("in-pieces",)),
)
_BOUGHT = (
    ("a bottle of", "bottles of", "Flasche", "Flaschen", Agreement.FEMININE, ("cold-drink",)),
    ("a kilo of", "kilos of", "Kilo", "Kilo", Agreement.NEUTER, ("fruit", "fruit-plural", "raw")),
)


def amount(draw: Draw, served: bool) -> NounPhrase:
    """Return "a cup of tea", "two kilos of apples": what is measured follows in German without a preposition.

    Cups, glasses and pieces are what is served; bottles and kilos are what is bought.
    """
    one, several, singular, plural, gender, classes = draw.choose(_SERVED if served else _BOUGHT)
    held = draw.choose(nouns.of_class(*classes))
    english = held.english_plural or held.english if classes[0] == "fruit" else held.english
    german = held.german_plural or held.german if classes[0] == "fruit" else held.german
    count = draw.between(1, 4)
    if count == 1:
        forms = [f"{de.article('ein', 'ein', case, gender)} {singular} {german}" for case in Case]
        phrase = f"{one} {english}"
    else:
        number = numbers.number_words(count)
        dative = de.plural_in_case(plural, Case.DATIVE) if plural != "Kilo" else plural
        forms = [f"{number.german} {dative if case is Case.DATIVE else plural} {german}" for case in Case]
        phrase = f"{number.english} {several} {english}"
    agreement = gender if count == 1 else Agreement.PLURAL
    return NounPhrase(phrase, (forms[0], forms[1], forms[2], forms[3]), Person.IT, agreement, key=held.english)


def shopping(draw: Draw) -> tuple[str, str]:
    """Return an order, or what somebody bought."""
    served = draw.chance(0.5)
    verb = verbs.named("order" if served else "buy")
    first, second = amount(draw, served), amount(draw, served)
    thing = _and(first, second) if first.key != second.key and draw.chance(0.5) else first
    subject = choices.person(draw)
    said = Predicate(verb.english, verb.german, accusative=thing)
    kind = draw.below(4)
    if kind == 0:
        wishing = p.pronoun(draw.choose((Person.I, Person.I, Person.WE)))
        return sentence(c.statement(Clause(wishing, said, modal=c.WOULD_LIKE)))
    if kind == 1 and not served:
        needs = verbs.named("need")
        return sentence(c.statement(Clause(subject, Predicate(needs.english, needs.german, accusative=thing))))
    if kind == 2:
        return sentence(c.statement(Clause(subject, said, modal=draw.choose((c.MUST, c.WANT, c.SHOULD)))))
    place = draw.choose(places.locations("eating" if served else "shop")) if draw.chance(0.4) else None
    time = times.past(draw) if place is None and draw.chance(0.6) else None
    return sentence(c.statement(Clause(subject, said, Tense.PAST, place=place, time=time)))


def _and(first: NounPhrase, second: NounPhrase) -> NounPhrase:
    forms = [f"{one} und {other}" for one, other in zip(first.german, second.german, strict=True)]
    german = (forms[0], forms[1], forms[2], forms[3])
    return replace(first, english=f"{first.english} and {second.english}", german=german, negative=None)


def _cents(draw: Draw, noun_classes: tuple[str, ...]) -> int:
    """Return a plausible price."""
    if set(noun_classes) & {"food", "printed"}:
        return draw.between(1, 19) * 100 + draw.choose((0, 20, 50, 80, 90, 95, 99))
    if "vehicle" in noun_classes:
        return draw.between(2, 300) * 5000 + draw.choose((0, 0, 50))
    most = 120 if set(noun_classes) & {"clothing", "clothing-plural"} else 900
    return draw.between(10, most) * 100 + draw.choose((0, 0, 50, 95, 90))


def prices(draw: Draw) -> tuple[str, str]:
    """Return what something costs, or the question."""
    noun = draw.choose(nouns.of_class("food", "printed", "clothing", "furniture", "device", "vehicle"))
    plural = bool(noun.english_plural) and draw.chance(0.2)
    subject = p.noun_phrase(noun, draw.choose((p.THE, p.THIS)), plural=plural)
    if draw.chance(0.15):
        asked = Phrase("how much", "wie viel")
        return sentence(c.question(Clause(subject, Predicate(*words.COST)), asked), "?")
    cents = numbers.price(_cents(draw, noun.classes))
    if draw.chance(0.3):
        buyer = choices.person(draw)
        thing = choices.described(draw, noun, p.A if noun.english_plural else p.THE, 0.3)
        bought = verbs.named(
            draw.choose(("buy", "sell") if noun.english_plural and "food" not in noun.classes else ("buy",))
        )
        said = Predicate(bought.english, bought.german, accusative=thing, manner=words.after("for", "für", cents))
        return sentence(c.statement(Clause(buyer, said, Tense.PAST)))
    only = draw.choose((Phrase("", ""), Phrase("", ""), Phrase("only ", "nur ")))
    said = Predicate(*words.COST, complement=words.joined(only, "", "", cents))
    return sentence(c.statement(Clause(subject, said, Tense.PAST if draw.chance(0.25) else Tense.PRESENT)))


def health(draw: Draw) -> tuple[str, str]:
    """Return what hurts, what somebody has, and since when."""
    subject = choices.person(draw)
    kind = draw.below(3)
    if kind == 0:
        noun = draw.choose(nouns.of_class("body"))
        plural = noun.english in ("foot", "leg", "arm", "knee", "tooth") and draw.chance(0.3)
        part = p.noun_phrase(
            noun, p.possessive(draw.choose((Person.I, Person.I, Person.HE, Person.SHE))), plural=plural
        )
        said = words.simple("hurt* hurt", "weh|tun tut wehgetan")
        time = draw.choose((None, Phrase("today", "heute"), Phrase("again", "wieder")))
        return sentence(c.statement(Clause(part, said, time=time)))
    ailment = _ailment(*draw.choose(_AILMENTS))
    if kind == 1:
        clause = words.has(subject, ailment, draw.choose((Tense.PRESENT, Tense.PAST)))
        if clause.tense is Tense.PAST:
            return sentence(c.statement(replace(clause, time=times.past(draw))))
        return sentence(c.question(clause), "?") if draw.chance(0.3) else sentence(c.statement(clause))
    return _since(draw, words.has(subject, ailment), "weeks")


_AILMENTS = (
    ("a headache", "Kopfschmerzen"),
    ("a stomach ache", "Bauchschmerzen"),
    ("a toothache", "Zahnschmerzen"),
    ("a fever", "Fieber"),
    ("a cough", "Husten"),
    ("a cold", "eine Erkältung"),
)


def _ailment(english: str, german: str) -> NounPhrase:
    return NounPhrase(english, (german, german, german, ""), Person.IT, de.Agreement.NEUTER, key=english)


def _since(draw: Draw, clause: Clause, longest: str) -> tuple[str, str]:
    """Return a sentence with "for" or "since": perfect in English, present in German."""
    if draw.chance(0.6) or longest == "hours":
        _, length = times.duration(draw, "minutes" if longest == "hours" else "days", longest)
        time = Phrase(f"for {length.english}", f"seit {length.german}")
    else:
        day = draw.choose(
            times.WEEKDAYS + numbers.MONTHS + (Phrase("yesterday", "gestern"), Phrase("last week", "letzter Woche"))
        )
        time = words.after("since", "seit", day)
    perfect = c.statement(replace(clause, tense=Tense.PERFECT, time=time))
    present = c.statement(replace(clause, tense=Tense.PRESENT, time=time))
    return sentence(Phrase(perfect.english, present.german))


_CONDITIONS = (Phrase("ill", "krank"), Phrase("in hospital", "im Krankenhaus"), Phrase("on holiday", "im Urlaub"))


def since(draw: Draw) -> tuple[str, str]:
    """Return what has been so for some time."""
    subject = choices.person(draw)
    pet = choices.described(draw, draw.choose(nouns.of_class("pet", "vehicle")), p.A, 0.3)
    language = p.noun_phrase(draw.choose(nouns.of_class("language")), p.BARE)
    friend = draw.choose([name for name in places.FIRST_NAMES + places.SURNAMES if name.key != subject.key])
    awaited = choices.object_for(draw, ("kin", "transport"), subject)
    bus = p.prepositional("", "auf", Case.ACCUSATIVE, awaited)
    long, longest = draw.choose(
        (
            (words.simple("live", "wohnen", draw.choose(places.locations("city", "dwelling", "country"))), "years"),
            (words.simple("work", "arbeiten", draw.choose(places.locations("office", "city"))), "years"),
            (Predicate(*words.verb("be was been +learning", "lernen"), accusative=language), "years"),
            (Predicate(*words.verb("know* knew known", "kennen"), accusative=friend), "years"),
            (Predicate(words.HAVE, de.HABEN, accusative=pet), "years"),
            (Predicate(words.BE, de.SEIN, complement=draw.choose(_CONDITIONS)), "weeks"),
            (Predicate(*words.verb("be was been +waiting_for", "warten"), complement=bus), "hours"),
        )
    )
    return _since(draw, Clause(subject, long), longest)


_SKIES = (
    Phrase("cold", "kalt"),
    Phrase("warm", "warm"),
    Phrase("hot", "heiß"),
    Phrase("sunny", "sonnig"),
    Phrase("cloudy", "bewölkt"),
    Phrase("foggy", "neblig"),
    Phrase("windy", "windig"),
)


def weather(draw: Draw) -> tuple[str, str]:
    """Return what the weather is, was or will be like."""
    place = draw.choose(places.locations("city", "country", "beach"))
    tense, time = draw.choose(
        (
            (Tense.PRESENT, draw.choose((times.NOW[1], times.NOW[0]))),
            (Tense.PAST, times.past(draw)),
            (Tense.FUTURE, times.future(draw)),
        )
    )
    where = place if draw.chance(0.6) else None
    kind = draw.below(4)
    if kind == 0:
        degrees = str(draw.between(2, 38))
        clause = words.is_(words.IT, f"{degrees} degrees", f"{degrees} Grad", tense)
        clause = replace(clause, time=time, place=where)
        # German says "es sind 20 Grad": the verb agrees with the degrees.
        plural = replace(clause, subject=replace(words.IT, person=Person.THEY))
        return sentence(Phrase(c.statement(clause).english, c.statement(plural).german))
    if kind == 1:
        falling = draw.choose((words.simple("rain", "regnen"), words.simple("snow", "schneien")))
        clause = Clause(words.IT, falling, tense, time=time, place=where)
        if tense is Tense.PRESENT:
            clause = replace(clause, time=times.habitual(draw))
            if draw.chance(0.5):
                clause = replace(clause, tense=Tense.PROGRESSIVE, time=draw.choose(times.NOW[:3]))
    elif kind == 2:
        sun = NounPhrase("the sun", ("die Sonne", "", "", ""), Person.IT, Agreement.FEMININE)
        now = Tense.PROGRESSIVE if tense is Tense.PRESENT else tense
        clause = Clause(sun, words.simple("shine shone", "scheinen - geschienen"), now, time=time, place=where)
    else:
        very = draw.choose((Phrase("", ""), words.VERY))
        sky = draw.choose(_SKIES)
        said = Phrase(f"{very.english} {sky.english}".strip(), f"{very.german} {sky.german}".strip())
        clause = replace(words.is_(words.IT, said.english, said.german, tense), time=time, place=where)
    return sentence(c.statement(clause, "time" if draw.chance(0.4) else None))


def cause(draw: Draw) -> tuple[str, str]:
    """Return what happened because of something, in spite of it or during it: the genitive."""
    english, german, classes = draw.choose(
        (
            ("because of", "wegen", ("weather",)),
            ("in spite of", "trotz", ("weather",)),
            ("during", "während", ("event", "show", "break")),
        )
    )
    main = subordinate.affected(draw, choices.person(draw), past=True, hindered=english == "because of")
    noun = draw.choose(nouns.of_class(*classes))
    reason = p.prepositional(english, german, Case.GENITIVE, p.noun_phrase(noun, p.THE))
    main = replace(main, time=None)
    return sentence(c.fronted(reason, main) if draw.chance(0.5) else c.statement(replace(main, time=reason)))


CONSTRUCTIONS = (
    ("shopping", shopping, 2),
    ("prices", prices, 3),
    ("health", health, 2),
    ("for and since", since, 2),
    ("weather", weather, 2),
    ("because of, during", cause, 2),
)
