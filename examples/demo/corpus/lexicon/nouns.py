"""Nouns.

A row is "English[/plural] | article German plural [=genitive] [~oblique] [+feminine] | classes". A "-" is a missing
form: no plural, or (in the singular) plural only. "~" gives the accusative and dative (and genitive) of a weak noun.
"""

from functools import cache

from examples.demo.corpus.grammar import english as en
from examples.demo.corpus.grammar import german as de
from examples.demo.corpus.grammar.german import Agreement
from examples.demo.corpus.grammar.phrases import Noun

_ROWS = """
brother | der Bruder Brüder | person kin several
sister | die Schwester Schwestern | person kin several
mother | die Mutter Mütter | person kin parent
father | der Vater Väter | person kin parent
grandmother | die Großmutter Großmütter | person kin parent
grandfather | der Großvater Großväter | person kin parent
uncle | der Onkel Onkel | person kin several
aunt | die Tante Tanten | person kin several
son | der Sohn Söhne | person kin several young
daughter | die Tochter Töchter | person kin several young
friend | der Freund Freunde | person kin several
cousin | der Cousin Cousins =Cousins | person kin several
neighbour | der Nachbar Nachbarn ~Nachbarn | person kin
boss | der Chef Chefs =Chefs | person boss
colleague | der Kollege Kollegen ~Kollegen | person kin several
-/parents | die - Eltern | person kin-plural
-/grandparents | die - Großeltern | person kin-plural
child/children | das Kind Kinder | person child
girl | das Mädchen Mädchen | person child
boy | der Junge Jungen ~Jungen | person child
man/men | der Mann Männer | person adult
woman/women | die Frau Frauen | person adult
doctor | der Arzt Ärzte +Ärztin | person job
teacher | der Lehrer Lehrer +Lehrerin | person job
engineer | der Ingenieur Ingenieure +Ingenieurin | person job
cook | der Koch Köche =Kochs +Köchin | person job
waiter | der Kellner Kellner | person staff
baker | der Bäcker Bäcker +Bäckerin | person job
police officer | der Polizist Polizisten ~Polizisten +Polizistin | person job
student | der Student Studenten ~Studenten +Studentin | person job
journalist | der Journalist Journalisten ~Journalisten +Journalistin | person job
lawyer | der Anwalt Anwälte +Anwältin | person job
dentist | der Zahnarzt Zahnärzte +Zahnärztin | person job
hairdresser | der Friseur Friseure +Friseurin | person job
farmer | der Bauer Bauern ~Bauern +Bäuerin | person job
artist | der Künstler Künstler +Künstlerin | person job
pilot | der Pilot Piloten ~Piloten +Pilotin | person job
customer | der Kunde Kunden ~Kunden | person staff
guest | der Gast Gäste | person staff
tourist | der Tourist Touristen ~Touristen | person staff
dog | der Hund Hunde | animal pet
cat | die Katze Katzen | animal pet
horse | das Pferd Pferde | animal
bird | der Vogel Vögel | animal
mouse/mice | die Maus Mäuse | animal
rabbit | das Kaninchen Kaninchen | animal pet
cow | die Kuh Kühe | animal
duck | die Ente Enten | animal
apple | der Apfel Äpfel | food fruit coloured-fruit
banana | die Banane Bananen | food fruit
orange | die Orange Orangen | food fruit
pear | die Birne Birnen | food fruit
cherry | die Kirsche Kirschen | fruit-plural fresh
egg | das Ei Eier =Eis | food dish fresh
potato/potatoes | die Kartoffel Kartoffeln | food dish-plural fruit
tomato/tomatoes | die Tomate Tomaten | food fruit
carrot | die Karotte Karotten | food fruit
biscuit | der Keks Kekse | food baked
roll | das Brötchen Brötchen | food fresh
sausage | die Wurst Würste | food
salad | der Salat Salate | food fresh
soup | die Suppe Suppen | food dish
cake | der Kuchen Kuchen | food baked in-pieces
pizza | die Pizza Pizzas | food baked in-pieces
bread | das Brot - | food baked in-pieces fresh
cheese | der Käse - =Käses | food in-pieces raw
butter | die Butter - | food
rice | der Reis - | food dish raw
meat | das Fleisch - | food dish fresh raw
fish | der Fisch - | food dish fresh raw
chocolate | die Schokolade - | food
milk | die Milch - | drink cold-drink fresh
water | das Wasser - | drink cold-drink
coffee | der Kaffee - | drink hot-drink
tea | der Tee - | drink hot-drink
juice | der Saft - | drink cold-drink
beer | das Bier - | drink cold-drink
wine | der Wein - | drink cold-drink
lemonade | die Limonade - | drink cold-drink
coat | der Mantel Mäntel | clothing
jacket | die Jacke Jacken | clothing
shirt | das Hemd Hemden =Hemdes | clothing
dress | das Kleid Kleider | clothing
skirt | der Rock Röcke | clothing
hat | der Hut Hüte | clothing
cap | die Mütze Mützen | clothing
scarf/scarves | der Schal Schals =Schals | clothing
sweater | der Pullover Pullover | clothing
suit | der Anzug Anzüge | clothing
shoe | der Schuh Schuhe | clothing-plural footwear
boot | der Stiefel Stiefel | clothing-plural footwear
glove | der Handschuh Handschuhe | clothing-plural
table | der Tisch Tische | furniture surface
chair | der Stuhl Stühle =Stuhls | furniture surface
bed | das Bett Betten | furniture surface
cupboard | der Schrank Schränke | furniture container
shelf/shelves | das Regal Regale | furniture surface
lamp | die Lampe Lampen | furniture switched
sofa | das Sofa Sofas | furniture surface
desk | der Schreibtisch Schreibtische | furniture surface
carpet | der Teppich Teppiche | furniture
mirror | der Spiegel Spiegel | furniture
computer | der Computer Computer | device switched
phone | das Telefon Telefone | device
camera | die Kamera Kameras | device thing
television | der Fernseher Fernseher | device switched
radio | das Radio Radios | device switched
washing machine | die Waschmaschine Waschmaschinen | device switched
fridge | der Kühlschrank Kühlschränke | device
clock | die Uhr Uhren | device
car | das Auto Autos | vehicle
bicycle | das Fahrrad Fahrräder | vehicle
motorbike | das Motorrad Motorräder | vehicle
boat | das Boot Boote | vehicle
bus | der Bus Busse =Busses | transport
train | der Zug Züge | transport
tram | die Straßenbahn Straßenbahnen | transport
taxi | das Taxi Taxis | taxi
plane | das Flugzeug Flugzeuge | departure
ship | das Schiff Schiffe | departure
book | das Buch Bücher | reading printed thing portable
newspaper | die Zeitung Zeitungen | reading printed portable paper
magazine | die Zeitschrift Zeitschriften | reading printed portable paper
novel | der Roman Romane | reading printed
letter | der Brief Briefe | reading written answered portable paper
email | die E-Mail E-Mails | reading written answered
postcard | die Postkarte Postkarten | written portable
report | der Bericht Berichte | reading written
article | der Artikel Artikel | reading written
key | der Schlüssel Schlüssel | thing possession portable
bag | die Tasche Taschen | thing possession luggage container
wallet | die Brieftasche Brieftaschen | thing possession portable
umbrella | der Regenschirm Regenschirme | thing possession
passport | der Pass Pässe | possession document
ticket | die Fahrkarte Fahrkarten | possession document
pen | der Stift Stifte | thing possession portable
suitcase | der Koffer Koffer | thing luggage container
box | die Kiste Kisten | thing luggage container
basket | der Korb Körbe | thing luggage container
bottle | die Flasche Flaschen | thing portable
cup | die Tasse Tassen | thing portable
glass | das Glas Gläser | thing portable
plate | der Teller Teller | thing portable
knife/knives | das Messer Messer | thing portable
spoon | der Löffel Löffel | thing portable
ball | der Ball Bälle | thing toy portable
doll | die Puppe Puppen | toy
flower | die Blume Blumen | gift-plural
picture | das Bild Bilder | thing gift picture
ring | der Ring Ringe | gift possession
present | das Geschenk Geschenke | gift portable
candle | die Kerze Kerzen | thing portable
map | die Karte Karten | thing portable
door | die Tür Türen | opening
window | das Fenster Fenster | opening
kitchen | die Küche Küchen | room
bathroom | das Badezimmer Badezimmer | room
living room | das Wohnzimmer Wohnzimmer | room
bedroom | das Schlafzimmer Schlafzimmer | room
cellar | der Keller Keller | room
room | das Zimmer Zimmer | room
house | das Haus Häuser | building home
flat | die Wohnung Wohnungen | building home
church | die Kirche Kirchen | building sight
bridge | die Brücke Brücken | building sight
castle | das Schloss Schlösser | building sight
museum | das Museum Museen | building sight
school | die Schule Schulen | building
hospital | das Krankenhaus Krankenhäuser | building
hotel | das Hotel Hotels | building eatery
restaurant | das Restaurant Restaurants | building eatery
supermarket | der Supermarkt Supermärkte | building town
library | die Bibliothek Bibliotheken | building town
park | der Park Parks =Parks | town outdoors
bakery | die Bäckerei Bäckereien | building town
train station | der Bahnhof Bahnhöfe =Bahnhofs | building town
swimming pool | das Schwimmbad Schwimmbäder | building town
garden | der Garten Gärten | outdoors
street | die Straße Straßen | street
village | das Dorf Dörfer | settlement
city | die Stadt Städte | settlement
lake | der See Seen =Sees | nature
river | der Fluss Flüsse | nature
mountain | der Berg Berge | nature
forest | der Wald Wälder | nature outdoors
film | der Film Filme =Films | show
concert | das Konzert Konzerte | show event
song | das Lied Lieder | music
meeting | die Besprechung Besprechungen | event appointment
party | die Party Partys | event party
wedding | die Hochzeit Hochzeiten | event party
exam | die Prüfung Prüfungen | event
trip | die Reise Reisen | event plan journey
flight | der Flug Flüge =Fluges | journey
appointment | der Termin Termine | appointment
course | der Kurs Kurse | event course
weekend | das Wochenende Wochenenden | anticipated break
-/holidays | die - Ferien | anticipated break
summer | der Sommer Sommer | anticipated
birthday | der Geburtstag Geburtstage =Geburtstags | anticipated
breakfast | das Frühstück - =Frühstücks | meal
lunch | das Mittagessen - | meal
dinner | das Abendessen - | meal
problem | das Problem Probleme | abstract explained
question | die Frage Fragen | abstract asked answered
answer | die Antwort Antworten | abstract asked found
exercise | die Übung Übungen | abstract explained
mistake | der Fehler Fehler | abstract explained
word | das Wort Wörter | abstract explained
story | die Geschichte Geschichten | abstract story
joke | der Witz Witze | story
rule | die Regel Regeln | abstract explained
job | die Stelle Stellen | position
help | die Hilfe - | need help
money | das Geld - | need
time | die Zeit - | need
bill | die Rechnung Rechnungen | bill
form | das Formular Formulare | form
rain | der Regen - | weather
snow | der Schnee - | weather
storm | der Sturm Stürme | weather
noise | der Lärm - =Lärms | weather
traffic | der Verkehr - =Verkehrs | weather
cold | die Kälte - | weather
head | der Kopf Köpfe | body
back | der Rücken Rücken | body
arm | der Arm Arme =Arms | body
leg | das Bein Beine | body
knee | das Knie Knie =Knies | body
foot/feet | der Fuß Füße | body
tooth/teeth | der Zahn Zähne | body
art | die Kunst - | interest
music | die Musik - | interest music
history | die Geschichte - | interest
politics | die Politik - | interest
sport | der Sport - | interest
German | das Deutsch - =Deutsch | language
English | das Englisch - =Englisch | language
French | das Französisch - =Französisch | language
Spanish | das Spanisch - =Spanisch | language
Italian | das Italienisch - =Italienisch | language
"""

_ARTICLES = {"der": Agreement.MASCULINE, "die": Agreement.FEMININE, "das": Agreement.NEUTER}


def _parse(row: str) -> Noun:
    english, german, classes = (cell.strip() for cell in row.split("|"))
    singular, _, plural = english.partition("/")
    article, word, german_plural, *marked = german.split()
    forms = {form[0]: form[1:] for form in marked}
    agreement = _ARTICLES[article]
    oblique = forms.get("~", word)
    genitive = forms.get("=", word)
    if agreement is not Agreement.FEMININE and "=" not in forms:
        genitive = oblique if "~" in forms else de.regular_genitive(word)
    counted = german_plural != "-"
    return Noun(
        english="" if singular == "-" else singular,
        english_plural=(plural or en.regular_plural(singular)) if counted else "",
        german=word,
        agreement=agreement,
        german_plural=german_plural if counted else "",
        genitive=genitive,
        oblique=oblique,
        feminine=forms.get("+", ""),
        classes=tuple(classes.split()),
    )


NOUNS: tuple[Noun, ...] = tuple(_parse(row) for row in _ROWS.strip().splitlines())


@cache
def of_class(*classes: str) -> tuple[Noun, ...]:
    """Return the nouns that are in any of the classes, in the table's order."""
    found = tuple(noun for noun in NOUNS if set(noun.classes) & set(classes))
    if not found:
        raise KeyError(f"no noun in {classes}")
    return found


@cache
def named(english: str) -> Noun:
    """Return the first noun whose English singular (or plural, where it has no singular) is `english`."""
    for noun in NOUNS:
        if english == (noun.english or noun.english_plural):
            return noun
    raise KeyError(f"no noun {english!r}")
