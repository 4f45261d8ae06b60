"""Whole sentences of every construction against translations written by hand."""

from dataclasses import replace

import pytest

from examples.demo.corpus.grammar import clauses as c
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar import phrases as p
from examples.demo.corpus.grammar.clauses import Clause, Modal, Predicate
from examples.demo.corpus.grammar.english import Tense
from examples.demo.corpus.grammar.german import Case
from examples.demo.corpus.grammar.phrases import NounPhrase, Person, Phrase
from examples.demo.corpus.lexicon import adjectives, nouns, verbs
from examples.demo.corpus.sentences import subordinate, words

ME, HE, SHE, WE, YOU, THEY = (
    p.pronoun(person) for person in (Person.I, Person.HE, Person.SHE, Person.WE, Person.YOU, Person.THEY)
)
MY, HIS, OUR = p.possessive(Person.I), p.possessive(Person.HE), p.possessive(Person.WE)
ANNA = p.proper_name("Anna", Person.SHE)
YESTERDAY, TOMORROW = Phrase("yesterday", "gestern"), Phrase("tomorrow", "morgen")
GARDEN = Phrase("in the garden", "im Garten")


def the(noun: str, *adjective: str, determiner: p.Determiner = p.THE, plural: bool = False) -> NounPhrase:
    return p.noun_phrase(nouns.named(noun), determiner, *map(adjectives.named, adjective), plural=plural)


def a(noun: str, *adjective: str) -> NounPhrase:
    return the(noun, *adjective, determiner=p.A)


def does(
    verb: str, accusative: NounPhrase | None = None, dative: NounPhrase | None = None, complement: Phrase | None = None
) -> Predicate:
    found = verbs.named(verb)
    with_to = any(slot.with_to for slot in found.frame)
    return Predicate(found.english, found.german, dative, accusative, complement, dative_with_to=with_to)


def with_(verb: str, phrase: NounPhrase) -> Predicate:
    """Return a verb with its prepositional object."""
    slot = verbs.named(verb).frame[0]
    return does(verb, complement=p.prepositional("", slot.preposition, slot.case, phrase))


def past(subject: NounPhrase, predicate: Predicate, time: Phrase | None = None, negated: bool = False) -> Clause:
    return Clause(subject, predicate, Tense.PAST, negated=negated, time=time)


def modal(subject: NounPhrase, verb: Modal, predicate: Predicate, negated: bool = False) -> Clause:
    return Clause(subject, predicate, modal=verb, negated=negated)


def joined(first: Phrase, english: str, german: str, second: Phrase) -> Phrase:
    return words.joined(first, english, german, second)


STATEMENTS: list[tuple[Clause, c.Front | None, str, str]] = [
    # verb forms, stem changes
    (Clause(ME, does("read", a("book"))), None, "I read a book.", "Ich lese ein Buch."),
    (Clause(HE, does("read", a("book"))), None, "He reads a book.", "Er liest ein Buch."),
    (Clause(WE, does("sleep")), None, "We sleep.", "Wir schlafen."),
    (Clause(ANNA, does("sleep")), None, "Anna sleeps.", "Anna schläft."),
    (Clause(the("brother", determiner=MY), does("take", the("train"))), None,
     "My brother takes the train.", "Mein Bruder nimmt den Zug."),
    (Clause(the("parents", determiner=OUR), does("work"), place=GARDEN), None,
     "Our parents work in the garden.", "Unsere Eltern arbeiten im Garten."),
    # tenses
    (Clause(SHE, does("wear", a("dress", "red")), Tense.PROGRESSIVE), None,
     "She is wearing a red dress.", "Sie trägt ein rotes Kleid."),
    (past(ME, does("buy", a("table", "old")), YESTERDAY), None,
     "I bought an old table yesterday.", "Ich habe gestern einen alten Tisch gekauft."),
    (past(THEY, does("fly", complement=Phrase("to Berlin", "nach Berlin"))), None,
     "They flew to Berlin.", "Sie sind nach Berlin geflogen."),
    (Clause(HE, does("eat", the("cake")), Tense.PERFECT, adverb=Phrase("already", "schon")), None,
     "He has already eaten the cake.", "Er hat den Kuchen schon gegessen."),
    (Clause(WE, does("visit", ANNA), Tense.FUTURE, time=TOMORROW), None,
     "We will visit Anna tomorrow.", "Wir werden Anna morgen besuchen."),
    (words.is_(ME, "tired", "müde", Tense.PAST), None, "I was tired.", "Ich war müde."),
    (words.has(WE, a("dog"), Tense.PAST), None, "We had a dog.", "Wir hatten einen Hund."),
    # modal verbs: infinitive last
    (modal(ME, c.CAN, does("play", complement=Phrase("football", "Fußball"))), None,
     "I can play football.", "Ich kann Fußball spielen."),
    (modal(HE, c.MUST, does("repair", the("car"))), None, "He has to repair the car.", "Er muss das Auto reparieren."),
    (modal(SHE, c.WANT, does("order", a("soup"))), None,
     "She wants to order a soup.", "Sie will eine Suppe bestellen."),
    (modal(YOU, c.SHOULD, does("sleep")), None, "You should sleep.", "Sie sollten schlafen."),
    (modal(THEY, c.ALLOWED, does("smoke"), negated=True), None,
     "They aren't allowed to smoke.", "Sie dürfen nicht rauchen."),
    (modal(ME, c.WOULD_LIKE, does("buy", a("shirt", "white"))), None,
     "I would like to buy a white shirt.", "Ich möchte ein weißes Hemd kaufen."),
    (replace(modal(WE, c.CAN, does("come back"), negated=True), tense=Tense.PAST), None,
     "We couldn't come back.", "Wir konnten nicht zurückkommen."),
    (replace(modal(HE, c.MUST, does("work")), tense=Tense.PAST), None, "He had to work.", "Er musste arbeiten."),
    # separable verbs
    (Clause(SHE, does("invite", the("uncle", determiner=MY)), Tense.PROGRESSIVE), None,
     "She is inviting my uncle.", "Sie lädt meinen Onkel ein."),
    (past(WE, does("tidy up", the("kitchen"))), None, "We tidied up the kitchen.", "Wir haben die Küche aufgeräumt."),
    (modal(ME, c.MUST, does("pick up", THEY)), None, "I have to pick them up.", "Ich muss sie abholen."),
    (Clause(HE, does("watch TV")), None, "He watches TV.", "Er sieht fern."),
    (past(SHE, does("go for a walk")), None, "She went for a walk.", "Sie ist spazieren gegangen."),
    # reflexive verbs and prepositional objects
    (Clause(ME, does("hurry")), None, "I hurry.", "Ich beeile mich."),
    (past(WE, does("rest")), None, "We rested.", "Wir haben uns ausgeruht."),
    (Clause(THEY, with_("look forward to", the("weekend")), Tense.PROGRESSIVE), None,
     "They are looking forward to the weekend.", "Sie freuen sich auf das Wochenende."),
    (Clause(HE, with_("be interested in", the("music", determiner=p.BARE))), None,
     "He is interested in music.", "Er interessiert sich für Musik."),
    (Clause(SHE, with_("wait for", the("bus")), Tense.PROGRESSIVE), None,
     "She is waiting for the bus.", "Sie wartet auf den Bus."),
    (past(ME, with_("talk to", the("neighbour", determiner=OUR))), None,
     "I talked to our neighbour.", "Ich habe mit unserem Nachbarn gesprochen."),
    (past(ME, with_("think of", YOU)), None, "I thought of you.", "Ich habe an Sie gedacht."),
    # dative and accusative objects
    (past(WE, does("help", dative=the("grandmother", determiner=MY))), None,
     "We helped my grandmother.", "Wir haben meiner Großmutter geholfen."),
    (past(HE, does("give", a("ring", "new"), the("sister", determiner=HIS)), YESTERDAY), None,
     "He gave his sister a new ring yesterday.", "Er hat seiner Schwester gestern einen neuen Ring gegeben."),
    (past(ME, does("show", the("castle"), THEY)), None,
     "I showed them the castle.", "Ich habe ihnen das Schloss gezeigt."),
    (Clause(SHE, does("explain", the("rule"), the("boy")), Tense.FUTURE), None,
     "She will explain the rule to the boy.", "Sie wird dem Jungen die Regel erklären."),
    # negation
    (Clause(ME, does("drink", the("coffee", determiner=p.BARE)), negated=True), None,
     "I don't drink coffee.", "Ich trinke keinen Kaffee."),
    (words.has(SHE, a("bicycle"), negated=True), None, "She doesn't have a bicycle.", "Sie hat kein Fahrrad."),
    (past(WE, does("buy", the("apple", determiner=p.SOME, plural=True)), negated=True), None,
     "We didn't buy any apples.", "Wir haben keine Äpfel gekauft."),
    (past(HE, does("read", the("book")), YESTERDAY, negated=True), None,
     "He didn't read the book yesterday.", "Er hat das Buch gestern nicht gelesen."),
    (past(THEY, does("go", complement=Phrase("to the cinema", "ins Kino")), negated=True), None,
     "They didn't go to the cinema.", "Sie sind nicht ins Kino gegangen."),
    (replace(past(ME, does("see", HE)), tense=Tense.PERFECT, negated=True, not_yet=True), None,
     "I haven't seen him yet.", "Ich habe ihn noch nicht gesehen."),
    (replace(past(ME, does("bake", a("cake"))), tense=Tense.PERFECT, negated=True, not_yet=True), None,
     "I haven't baked a cake yet.", "Ich habe noch keinen Kuchen gebacken."),
    (words.is_(ME, "hungry", "hungrig", negated=True), None, "I am not hungry.", "Ich bin nicht hungrig."),
    # what stands first: the finite verb stays second
    (past(WE, does("meet", the("boss", determiner=OUR)), YESTERDAY), "time",
     "Yesterday, we met our boss.", "Gestern haben wir unseren Chef getroffen."),
    (replace(modal(SHE, c.WANT, does("call", ME)), time=TOMORROW), "time",
     "Tomorrow, she wants to call me.", "Morgen will sie mich anrufen."),
    (Clause(HE, does("wash", the("car")), Tense.PROGRESSIVE, place=GARDEN), "place",
     "In the garden, he is washing the car.", "Im Garten wäscht er das Auto."),
    (Clause(HE, does("read", a("letter")), adverb=Phrase("often", "oft")), None,
     "He often reads a letter.", "Er liest oft einen Brief."),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "front", "english", "german"), STATEMENTS, ids=[row[2] for row in STATEMENTS])
def test_statement(clause: Clause, front: c.Front | None, english: str, german: str) -> None:
    assert c.sentence(c.statement(clause, front)) == (english, german)


QUESTIONS: list[tuple[Clause, Phrase | None, str, str]] = [
    (Clause(YOU, does("speak", the("German", determiner=p.BARE))), None,
     "Do you speak German?", "Sprechen Sie Deutsch?"),
    (words.is_(SHE, "ill", "krank"), None, "Is she ill?", "Ist sie krank?"),
    (past(HE, does("turn off", the("lamp"))), None, "Did he turn off the lamp?", "Hat er die Lampe ausgeschaltet?"),
    (modal(ME, c.MAY, does("open", the("window"))), None, "May I open the window?", "Darf ich das Fenster öffnen?"),
    (past(YOU, does("buy")), Phrase("what", "was"), "What did you buy?", "Was haben Sie gekauft?"),
    (modal(WE, c.MUST, does("come back")), Phrase("when", "wann"),
     "When do we have to come back?", "Wann müssen wir zurückkommen?"),
    (Clause(ANNA, does("cry"), Tense.PROGRESSIVE), Phrase("why", "warum"), "Why is Anna crying?", "Warum weint Anna?"),
    (Clause(THEY, does("buy"), modal=c.WANT), Phrase("which coat", "welchen Mantel"),
     "Which coat do they want to buy?", "Welchen Mantel wollen sie kaufen?"),
    (past(SHE, does("invite", YOU), negated=True), Phrase("why", "warum"),
     "Why didn't she invite you?", "Warum hat sie Sie nicht eingeladen?"),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "asked", "english", "german"), QUESTIONS, ids=[row[2] for row in QUESTIONS])
def test_question(clause: Clause, asked: Phrase | None, english: str, german: str) -> None:
    assert c.sentence(c.question(clause, asked), "?") == (english, german)


def after(english: str, german: str, clause: Clause) -> Phrase:
    return words.after(english, german, c.subordinate(clause))


SHE_SAYS = c.statement(Clause(SHE, words.simple("say said", "sagen"), Tense.PAST))
TRIED = c.statement(past(ME, words.simple("try", "versuchen")))
MAN, BOOK, WOMEN = the("man"), the("book"), the("woman", plural=True)

COMPLEX: list[tuple[Phrase, str, str]] = [
    # subordinate clauses: the finite verb last
    (joined(c.statement(Clause(HE, does("sleep"), Tense.PROGRESSIVE)), " ", ", ",
            after("because", "weil", words.is_(HE, "tired", "müde"))),
     "He is sleeping because he is tired.", "Er schläft, weil er müde ist."),
    (joined(SHE_SAYS, " ", ", ", after("that", "dass", past(ME, does("eat", the("soup"))))),
     "She said that I ate the soup.", "Sie hat gesagt, dass ich die Suppe gegessen habe."),
    (joined(SHE_SAYS, " ", ", ", after("that", "dass", modal(HE, c.CAN, does("help", dative=WE)))),
     "She said that he can help us.", "Sie hat gesagt, dass er uns helfen kann."),
    (joined(SHE_SAYS, " ", ", ", after("that", "dass", Clause(HE, does("pick up", ANNA), time=TOMORROW))),
     "She said that he picks up Anna tomorrow.", "Sie hat gesagt, dass er Anna morgen abholt."),
    (joined(SHE_SAYS, " ", ", ", after("that", "dass", Clause(HE, does("rest"), Tense.FUTURE))),
     "She said that he will rest.", "Sie hat gesagt, dass er sich ausruhen wird."),
    (c.fronted(Phrase("if it is raining", "wenn es regnet,"), modal(WE, c.WANT, does("watch TV"))),
     "If it is raining, we want to watch TV.", "Wenn es regnet, wollen wir fernsehen."),
    (c.fronted(Phrase("although he is ill", "obwohl er krank ist,"), Clause(HE, does("work"), Tense.PROGRESSIVE)),
     "Although he is ill, he is working.", "Obwohl er krank ist, arbeitet er."),
    (c.fronted(Phrase("when I was young", "als ich jung war,"),
               past(ME, does("live", complement=Phrase("in Rome", "in Rom")))),
     "When I was young, I lived in Rome.", "Als ich jung war, habe ich in Rom gewohnt."),
    # infinitives
    (joined(TRIED, " ", ", ", c.infinitive(Clause(ME, does("open", the("door"))))),
     "I tried to open the door.", "Ich habe versucht, die Tür zu öffnen."),
    (joined(TRIED, " ", ", ", c.infinitive(Clause(ME, does("turn on", the("radio"))))),
     "I tried to turn on the radio.", "Ich habe versucht, das Radio einzuschalten."),
    (joined(TRIED, " ", ", ", c.infinitive(Clause(ME, does("hurry")))),
     "I tried to hurry.", "Ich habe versucht, mich zu beeilen."),
    (joined(c.statement(past(WE, does("go", complement=Phrase("home", "nach Hause")))), " in order ", ", um ",
            c.infinitive(Clause(WE, does("rest")))),
     "We went home in order to rest.", "Wir sind nach Hause gegangen, um uns auszuruhen."),
    # relative clauses
    (joined(c.statement(past(ME, does("meet", MAN))), " ", ", ",
            subordinate.subject_clause(MAN, Clause(MAN, does("repair", the("clock"))))),
     "I met the man who repairs the clock.", "Ich habe den Mann getroffen, der die Uhr repariert."),
    (c.statement(words.is_(subordinate.with_relative(
        BOOK, subordinate.relative_clause(BOOK, Case.ACCUSATIVE, "that", past(SHE, does("read")))), "good", "gut")),
     "The book that she read is good.", "Das Buch, das sie gelesen hat, ist gut."),
    (joined(c.statement(Clause(ME, does("know", WOMEN))), " ", ", ",
            subordinate.subject_clause(WOMEN, past(WOMEN, does("sing")))),
     "I know the women who sang.", "Ich kenne die Frauen, die gesungen haben."),
    # where and where to
    (c.statement(past(HE, Predicate(*words.verb("put put", "legen"), accusative=the("key"),
                                    complement=p.prepositional("on", "auf", Case.ACCUSATIVE, the("table"))))),
     "He put the key on the table.", "Er hat den Schlüssel auf den Tisch gelegt."),
    (c.statement(Clause(the("key"), Predicate(words.BE, de.SEIN, complement=p.prepositional(
        "on", "auf", Case.DATIVE, the("table"))))),
     "The key is on the table.", "Der Schlüssel ist auf dem Tisch."),
    # possession
    (c.statement(words.is_(p.genitive(the("coat"), the("aunt", determiner=MY)), "dirty", "schmutzig")),
     "My aunt's coat is dirty.", "Der Mantel meiner Tante ist schmutzig."),
    (c.statement(Clause(HE, does("play", complement=Phrase("chess", "Schach")), modal=c.WOULD)),
     "He would play chess.", "Er würde Schach spielen."),
]  # fmt: skip


@pytest.mark.parametrize(("phrase", "english", "german"), COMPLEX, ids=[row[1] for row in COMPLEX])
def test_complex_sentence(phrase: Phrase, english: str, german: str) -> None:
    assert c.sentence(phrase) == (english, german)


@pytest.mark.parametrize(
    ("predicate", "negated", "english", "german"),
    [
        (does("open", the("window")), False, "Open the window.", "Öffnen Sie das Fenster."),
        (does("turn on", the("lamp")), False, "Turn on the lamp.", "Schalten Sie die Lampe ein."),
        (does("hurry"), False, "Hurry.", "Beeilen Sie sich."),
        (does("forget", the("key")), True, "Don't forget the key.", "Vergessen Sie den Schlüssel nicht."),
        (does("buy", a("boat")), True, "Don't buy a boat.", "Kaufen Sie kein Boot."),
        (does("give", the("ball"), ME), False, "Give me the ball.", "Geben Sie mir den Ball."),
    ],
)
def test_request(predicate: Predicate, negated: bool, english: str, german: str) -> None:
    assert c.sentence(c.request(predicate, negated)) == (english, german)


def test_weather() -> None:
    weather = words.is_(words.IT, "cold", "kalt")
    assert c.sentence(c.statement(weather)) == ("It is cold.", "Es ist kalt.")
    assert c.sentence(c.question(weather), "?") == ("Is it cold?", "Ist es kalt?")
