extension Language {
  /// German.
  public static let german = Language(
    "de", decimalPoint: ",", percentSign: "\u{A0}%", countsBelowTwoAsOne: false,
    texts: #"""
      {
        "classes": {
          "akiec": "Aktinische Keratosen", "bcc": "Basalzellkarzinom", "bkl": "Gutartige keratoseartige Läsionen", "df": "Dermatofibrom",
          "mel": "Melanom", "nv": "Melanozytäre Nävi", "vasc": "Gefäßläsionen"
        },
        "sites": {
          "abdomen": "Bauch", "acral": "Hände oder Füße", "back": "Rücken", "chest": "Brust", "ear": "Ohr", "face": "Gesicht", "foot": "Fuß", "genital": "Genitalbereich",
          "hand": "Hand", "lower extremity": "Bein", "neck": "Hals", "scalp": "Kopfhaut", "trunk": "Rumpf", "unknown": "unbekannt", "upper extremity": "Arm"
        },
        "disclaimer": {
          "label": "Haftungsausschluss", "title": "Bevor Sie beginnen", "accept": "Ich habe verstanden",
          "text": "DermaFusion ist ein Werkzeug für Forschung und Lehre. Es ist KEIN Medizinprodukt und wurde NICHT von der FDA oder einer anderen Behörde zugelassen. Die Ergebnisse dürfen NICHT zur Selbstdiagnose verwendet werden. Fragen Sie bei Hautproblemen immer eine Fachärztin oder einen Facharzt für Dermatologie.",
          "original": "Es gilt der englische Wortlaut:", "points": [
            { "icon": "lock", "text": "Ihre Fotos bleiben auf diesem Gerät. Die Seite lädt nichts und sendet nichts." },
            { "icon": "scan", "text": "Sie ist für die Dermatoskopie gemacht: für Fotos durch ein Dermatoskop. Gewöhnliche Fotos der Haut ergeben Antworten ohne Bedeutung." },
            { "icon": "person", "text": "Eine Einstufung als geringes Risiko kann falsch sein. Eine Läsion, die Ihnen Sorgen macht, gehört in ärztliche Hände, was auch immer diese Seite sagt." }
          ]
        },
        "metadata": {
          "title": "Was bekannt ist", "lead": "Alle Angaben sind freiwillig. Was fehlt, gilt als unbekannt und wird im Ergebnis genannt.",
          "age": "Alter", "ageSlider": "Alter, Schieberegler", "clearAge": "Leeren", "years": { "one": "{count} Jahr", "other": "{count} Jahre" }, "ageMissing": "Alter nicht angegeben",
          "ageInvalid": "Geben Sie ein Alter von 0 bis 130 Jahren ein, oder lassen Sie das Feld leer.", "ageClamped": "Das Modell zählt jedes Alter über 100 als 100.",
          "infant": "Alter 0: Handelt es sich um einen Säugling unter einem Jahr?", "infantYes": "Ja, ein Säugling", "infantNo": "Nein, Alter leer lassen", "infantTaken": "Säugling unter einem Jahr",
          "sex": "Geschlecht", "sexes": { "female": "Weiblich", "male": "Männlich", "unknown": "Unbekannt oder nicht gesagt" },
          "site": "Körperstelle", "siteHelps": "Es ist keine Stelle gewählt. Mit einer ist die Antwort meist besser, aber es geht auch ohne.",
          "notGiven": "nicht angegeben", "nothing": "Alter, Geschlecht und Stelle nicht angegeben", "unused": "Dieses Modell arbeitet nur mit dem Bild. Die Angaben werden vermerkt, ändern aber das Ergebnis nicht."
        },
        "result": {
          "title": "Ergebnis", "heading": "Klassifikation", "probabilities": "Wahrscheinlichkeiten",
          "suggests": "Die Klassifikation legt nahe: {name} ({percent} Konfidenz).", "suggestsBoth": "Die Klassifikation legt nahe: {name} ({percent} Konfidenz); {other} ist nicht auszuschließen ({otherPercent}).",
          "belowOnePercent": "weniger als 1 %",
          "notDiagnosis": "Das ist keine Diagnose. Bitte gehen Sie zu einer Hautärztin oder einem Hautarzt.", "urgent": "Eine dringende ärztliche Untersuchung wird empfohlen.",
          "noClassification": "Es wird keine Klassifikation nahegelegt: Das Modell enthält sich.",
          "abstains": "Für dieses Bild wird keine Klassifikation nahegelegt", "abstainAdvice": "Machen Sie ein neues Foto: scharf, gut beleuchtet, die Läsion in der Mitte, durch ein Dermatoskop. Was auch immer das Bild zeigt: Lassen Sie eine Läsion, die Ihnen Sorgen macht, ärztlich ansehen.",
          "barsUnreliable": "Die Zahlen des Netzes für alle, die sie untersuchen. Verlassen Sie sich nicht darauf: Das Modell enthält sich.",
          "lowConfidence": "Die Konfidenz ist gering: Keine Klasse erreicht 20 %.",
          "severalClasses": "Jede Klasse hat eine eigene Wahrscheinlichkeit, weil mehrere zugleich zutreffen können; zusammen ergeben sie nicht 100 %.",
          "inSet": "In der 90-%-Auswahl", "inSetShort": "in der Auswahl",
          "set": {
            "one": "Die {percent}-%-Auswahl enthält nur die Klasse „{names}“. Bei Fotos wie denen, an denen sie angepasst wurde, enthält eine solche Auswahl in {percent} von 100 Fällen die richtige Klasse. Eine Klasse außerhalb ist nicht ausgeschlossen.",
            "other": "Die {percent}-%-Auswahl enthält {count} Klassen: {names}. Bei Fotos wie denen, an denen sie angepasst wurde, enthält eine solche Auswahl in {percent} von 100 Fällen die richtige Klasse. Eine Klasse außerhalb ist nicht ausgeschlossen."
          },
          "setUnknown": {
            "one": "Die Auswahl enthält nur die Klasse „{names}“. Wie oft eine solche Auswahl die richtige Klasse enthält, ist nicht bekannt: Von der wahrscheinlichsten Klasse gab es zu wenige Fotos, um sie anzupassen. Eine Klasse außerhalb ist nicht ausgeschlossen.",
            "other": "Die Auswahl enthält {count} Klassen: {names}. Wie oft eine solche Auswahl die richtige Klasse enthält, ist nicht bekannt: Von der wahrscheinlichsten Klasse gab es zu wenige Fotos, um sie anzupassen. Eine Klasse außerhalb ist nicht ausgeschlossen."
          },
          "setWhy": "Jede Klasse hat ihre eigene Schwelle, so angepasst, dass die richtige Klasse selten fehlt. Daher kann eine seltene Klasse in der Auswahl sein und eine wahrscheinlichere nicht.",
          "moved": "Das Quadrat wurde verschoben oder vergrößert: Das Modell sah {side} mal {side} Pixel ab {left}, {top}, nicht die Mitte des Fotos.",
          "reduced": "Das Foto war zu groß und wurde zuerst auf {width} mal {height} Pixel verkleinert.",
          "actions": "Was mit dem Ergebnis geschieht", "more": "Wie das berechnet wurde", "change": "Alter, Geschlecht oder Stelle ändern", "stale": "Alter, Geschlecht, Stelle oder Quadrat wurden seither geändert. Dieses Ergebnis ist veraltet; aktualisieren Sie es, bevor es gespeichert, exportiert oder gedruckt wird.", "outOfDate": "Veraltet", "update": "Ergebnis aktualisieren",
          "save": "Im Verlauf speichern", "saveAgain": "Änderungen speichern", "saved": "Gespeichert", "next": "Neue Aufnahme", "report": "Drucken oder PDF", "square": "Quadrat anpassen"
        },
        "risk": {
          "low": { "word": "Als geringes Risiko eingestuft", "sentence": "Lassen Sie es dermatologisch bestätigen.", "full": "Als geringes Risiko eingestuft. Lassen Sie es dermatologisch bestätigen." },
          "moderate": { "word": "Als mittleres Risiko eingestuft", "sentence": "Gehen Sie zu einer Hautärztin oder einem Hautarzt.", "full": "Als mittleres Risiko eingestuft. Gehen Sie zu einer Hautärztin oder einem Hautarzt." },
          "high": { "word": "Als hohes Risiko eingestuft", "sentence": "Gehen Sie bald zu einer Hautärztin oder einem Hautarzt.", "full": "Als hohes Risiko eingestuft. Gehen Sie bald zu einer Hautärztin oder einem Hautarzt." },
          "abstain": { "word": "Kein Risiko genannt", "sentence": "Das Modell enthält sich." },
          "unknown": { "word": "Kein Risiko genannt", "sentence": "Dieses Modell sagt nicht, welche seiner Klassen bösartig sind." }
        },
        "abstain": {
          "damaged_image": "Die Bilddatei ist beschädigt, und ein Teil dessen, was sie zeigt, kann erfunden sein.",
          "solid_color": "Das Bild hat kaum Farbunterschiede.", "underexposed": "Das Bild oder einer seiner Farbkanäle ist zu dunkel.", "overexposed": "Das Bild ist zu hell.",
          "low_contrast": "Kaum etwas im Bild hebt sich von seiner Umgebung ab.", "no_lesion": "Das Bild zeigt keine Struktur wie eine Läsion.",
          "unlike_skin": "Ein großer Teil des Bildes hat eine Farbe, die Haut nicht hat.", "unusual_color": "Das Bild hat keine Farbe, oder Farben, die Haut unter einem Dermatoskop nicht hat.",
          "blurred": "Das Bild ist stark unscharf.", "not_dermoscopic": "Das sieht nicht wie ein Bild durch ein Dermatoskop aus, und das Modell kennt keine anderen Bilder.",
          "out_of_distribution": "Das Bild gleicht denen nicht, mit denen das Modell trainiert wurde."
        },
        "warnings": {
          "damaged_file": "Die Bilddatei ist beschädigt; was sie zeigt, kann von dem abweichen, was gespeichert wurde.", "unoptimized_build": "DermaFusion wurde ohne Optimierung übersetzt, und ein Bild dauert etwa eine Minute.",
          "solid_color": "Das Bild hat kaum Farbunterschiede und zeigt vielleicht keine Läsion; der Farbausgleich entfiel.", "near_black": "Ein Farbkanal des Bildes ist fast schwarz; der Farbausgleich entfiel.",
          "small_image": "Das Bild ist kleiner als 100x100 Pixel; feine Strukturen fehlen.", "metadata_unused": "Alter, Geschlecht oder Stelle wurden nicht benutzt: Dieses Modell arbeitet nur mit dem Bild.",
          "several_pictures": "Die Bilddatei enthält {detail} Bilder; nur das erste wurde ausgewertet.",
          "color_profile": "Die Farben der Bilddatei sind die des Profils {detail}, nicht sRGB; ihre Werte wurden benutzt, wie sie gespeichert sind, und das Modell sieht vielleicht andere Farben als ein Mensch.",
          "pixels_resampled": "Nach Angabe der Datei sind ihre Pixel nicht quadratisch; das Bild wurde so umgerechnet, dass die Formen stimmen.",
          "metadata_from_file": "Alter, Geschlecht oder Stelle, die nicht angegeben waren, stammen aus der Bilddatei."
        },
        "heatmap": {
          "heading": "Wohin das Netz geschaut hat", "title": "Stützt die Klasse", "weak": "schwach", "strong": "stark", "show": "Wärmebild zeigen", "beside": "Foto neben dem Wärmebild", "peek": "Halten: nur das Foto", "shown": "Das Wärmebild für {name} wird gezeigt.", "opacity": "Deckkraft", "class": "Klasse",
          "figure": "Foto mit Wärmebild", "hidden": "Das Wärmebild ist ausgeblendet.",
          "scale": "Die Farben sind auf dieses Bild allein bezogen: Sie vergleichen seine Bereiche, nicht eine Klasse mit einer anderen. Das Modell gibt der Klasse „{name}“ {percent}.",
          "photographAlone": "Das Quadrat des Fotos, ohne Wärmebild", "photographWithMap": "Das Quadrat des Fotos mit dem Wärmebild für {name} darüber",
          "caption": "Helle Bereiche stützen am meisten die Klasse „{name}“. Das Bild ist grob: Es sagt ungefähr, wo, und nie, warum.",
          "centre": "Seine hellen Bereiche liegen vor allem {place}.",
          "places": ["oben links", "oben", "oben rechts", "links", "in der Mitte", "rechts", "unten links", "unten", "unten rechts"],
          "captionFailed": "Die hellen Bereiche sind die, in denen dieses Wärmebild für die Klasse „{name}“ stark ist; es bestand aber mindestens eine seiner drei Prüfungen nicht: Verlassen Sie sich nicht darauf.", "all_negative": "Das Wärmebild ist überall schwach: Kein Bereich stützt die Klasse „{name}“.", "flat": "Das Wärmebild ist überall gleich: Kein Bereich sticht für die Klasse „{name}“ hervor.",
          "trust": "Wie weit man ihm trauen kann: Ein Wärmebild kann überzeugend aussehen und falsch sein, und es zeigt nicht, dass die Klassifikation richtig ist.", "checks": { "one": "Drei Prüfungen verdecken und zeigen Teile des Bildes und messen, was sich ändert. Das Netz läuft dafür etwa 140‑mal, was hier etwa {count} Sekunde dauert.", "other": "Drei Prüfungen verdecken und zeigen Teile des Bildes und messen, was sich ändert. Das Netz läuft dafür etwa 140‑mal, was hier etwa {count} Sekunden dauert." }, "elapsed": { "one": "{seconds} von etwa {count} Sekunde", "other": "{seconds} von etwa {count} Sekunden" }, "check": "Dieses Wärmebild prüfen",
          "checking": "Das Wärmebild wird geprüft ...", "passes": "Dieses Wärmebild bestand alle drei Prüfungen; richtig werden es und die Klassifikation dadurch nicht.", "fails": "Dieses Wärmebild bestand mindestens eine der drei Prüfungen nicht: Verlassen Sie sich nicht darauf.",
          "unchecked": "Dieses Wärmebild wurde nicht geprüft.", "measurements": "Messwerte",
          "deletion": "Verdecken: Die mittlere Wahrscheinlichkeit ist {value}, wenn die stärksten Stellen der Karte zuerst verdeckt werden, und {random} bei zufälligen Stellen. Die erste sollte niedriger sein.",
          "insertion": "Zeigen: Die mittlere Wahrscheinlichkeit ist {value}, wenn die stärksten Stellen der Karte zuerst gezeigt werden, und {random} bei zufälligen Stellen. Die erste sollte höher sein.",
          "shuffled": "Zufall: Die Korrelation mit Karten desselben Netzes, dessen letzte Schicht gemischt wurde, ist {value}. Sie sollte unter 0,5 liegen.",
          "noVariance": "Zufall: Eine Karte ohne Unterschiede lässt sich nicht vergleichen.",
          "failed": "Es gibt kein Wärmebild.", "abstains": "Das Modell enthält sich: Ein Wärmebild sagt dann nichts über die Läsion.", "noPhotograph": "Das Foto wurde nicht behalten oder ist nicht lesbar, daher gibt es kein Wärmebild."
        },
        "facts": {
          "image": "Bild", "date": "Datum", "imageHash": "SHA-256 der Datei", "square": "Quadrat", "squareValue": "{side} mal {side} Pixel ab {left}, {top} von {width} mal {height}",
          "model": "Modell", "modelHash": "SHA-256 des Modells", "time": "Zeit", "timeValue": "{decode} ms zum Lesen, {engine} ms zum Rechnen"
        },
        "report": {
          "title": "DermaFusion-Bericht", "scans": { "one": "{count} Aufnahme", "other": "{count} Aufnahmen" }, "photograph": "Foto: das Quadrat, das das Modell sah", "heatmap": "Wärmebild", "noHeatmap": "Wärmebild nicht verfügbar", "noPhotograph": "Foto nicht verfügbar",
          "failed": "Dieser Browser lässt die Seite nicht drucken. Nutzen Sie das Menü des Browsers oder exportieren Sie das Ergebnis als JSON oder CSV.", "made": "Wie das entstand", "page": "Seite: SHA-256 {hash}"
        },
        "reportFile": {
          "heading": { "one": "Bericht über ein dermatoskopisches Bild", "other": "Bericht über {count} dermatoskopische Bilder" },
          "title": { "one": "{name} - DermaFusion-Bericht", "other": "DermaFusion-Bericht über {count} Bilder" },
          "titled": "{title} - DermaFusion-Bericht",
          "images": { "one": "{count} Bild", "other": "{count} Bilder" },
          "risks": "Risiko: {high} hoch, {moderate} mittel, {low} gering.",
          "abstained": "Bei {count} enthält sich das Modell.",
          "failed": "{count} fehlgeschlagen.",
          "shown": "Diese Seite zeigt die Bilder mit dem Ergebnis {levels}: {shown} von {count}. Die anderen fehlen hier.",
          "levels": { "low": "geringes Risiko", "moderate": "mittleres Risiko", "high": "hohes Risiko", "abstained": "Enthaltung", "unjudged": "ohne Risiko" },
          "index": "Alle Bilder", "back": "Zurück zu allen Bildern", "pages": "{page} von {pages}",
          "cannotExclude": "{name} ist nicht auszuschließen ({percent})",
          "without": "Bilder ohne Ergebnis",
          "answerSheet": "Antworten", "answers": "Antworten zeigen",
          "labelled": "Laut Tabelle: {name}.", "first": "Das Modell setzt diese Klasse an die erste Stelle.", "another": "Das Modell setzt eine andere Klasse an die erste Stelle.",
          "views": "Was gezeigt wird", "photograph": "Foto", "photographOf": "Foto {name}",
          "square": "Das mittlere Quadrat des Bildes: mehr sieht das Modell nicht.",
          "mapOf": "Wärmebild über dem Foto {image}: die Bereiche, die {name} stützen",
          "maps": "Wärmebilder der anderen Klassen",
          "noMap": "Ein Ensemble hat kein eigenes Wärmebild; gradcam zeichnet eines für ein Mitglied.",
          "more": { "one": "{count} weitere Klasse ist weniger wahrscheinlich als diese.", "other": "{count} weitere Klassen sind weniger wahrscheinlich als diese." },
          "probabilities": "Wahrscheinlichkeit jeder Klasse",
          "unreliable": "Die Wahrscheinlichkeiten, die bei diesem Bild wenig bedeuten",
          "warnings": "Warnungen",
          "told": "Was das Modell erfuhr und welches Modell es war",
          "set": "{percent}-%-Auswahl",
          "setUnknown": "Auswahl von Klassen, Anteil nicht bekannt",
          "made": "Erstellt mit DermaFusion {version} auf dem Rechner, auf dem die Bilder liegen.",
          "madeOn": "Erstellt mit DermaFusion {version} am {date} auf dem Rechner, auf dem die Bilder liegen.",
          "sees": "Das Modell sieht das mittlere Quadrat eines Bildes und die Angaben zur Person, sonst nichts."
        },
        "withoutDetail": {
          "several_pictures": "Die Bilddatei enthält mehrere Bilder; nur das erste wurde ausgewertet.",
          "color_profile": "Die Farben der Bilddatei sind die eines anderen Profils, nicht sRGB; ihre Werte wurden benutzt, wie sie gespeichert sind, und das Modell sieht vielleicht andere Farben als ein Mensch."
        },
        "text": {
          "unreliable": "Die Wahrscheinlichkeiten, die bei diesem Bild wenig bedeuten:", "risk": "Risiko", "confidence": "Konfidenz",
          "anySet": "Auswahl", "unknownShare": "; wie oft sie die richtige Klasse enthält, ist nicht bekannt", "andMore": "{names} und {count} weitere",
          "metadata": "Angaben", "warning": "Warnung", "views": "Ansichten", "viewsMean": "mittlere Logits von {count} gedrehten und gespiegelten Ansichten", "model": "Modell",
          "time": "Zeit", "times": "Lesen {decode} ms, Vorverarbeitung {preprocess} ms, Netz {network} ms",
          "abstains": "nicht beurteilt, denn das Modell enthält sich", "unjudged": "nicht beurteilt, denn das Modell sagt nicht, welche seiner Klassen bösartig sind",
          "classes": "Klassen", "moreClassesAtMost": "{count} weitere Klassen, je höchstens", "moreClasses": "{count} weitere Klassen", "logitsWith": "Logits mit",
          "logits": { "imageAlone": "Bild", "everything": "allem", "withoutAge": "-Alter", "withoutSex": "-Geschl.", "withoutSite": "-Stelle" },
          "age": "Alter {age}", "ageMissing": "Alter fehlt", "sexes": { "female": "weiblich", "male": "männlich", "unknown": "Geschlecht fehlt" }, "siteMissing": "Körperstelle fehlt",
          "method": "Verfahren", "methodAt": "{method} an {layer}, {height}x{width}", "picture": "Bild", "array": "Array", "probability": "{label}, Wahrscheinlichkeit {percent}",
          "support": "Die Stützung der Klasse", "response": "Die Antwort der Merkmale, die für jede Klasse gleich ist,", "against": "; negative Werte sprechen gegen die Klasse",
          "range": "{subject} reicht von {least} bis {greatest}{against}. Die Mitte der gezeigten Karte liegt {x} von links und {y} von oben."
        },
        "table": {
          "image": "Bild", "class": "Klasse", "probability": "Wahr.", "risk": "Risiko", "remark": "Bemerkung", "abstains": "enthält sich: {reasons}", "lowConfidence": "geringe Konfidenz",
          "passed": "bestand die Prüfungen", "failed": "bestand eine Prüfung nicht: Verlassen Sie sich nicht auf die Karte", "picture": "Bild {path}", "classes": "Klassen: {names}.",
          "colon": ": ", "notDiagnosis": "Eine Klassifikation ist keine Diagnose. Bitte gehen Sie zu einer Hautärztin oder einem Hautarzt.",
          "unjudged": "Das Risiko wird nicht beurteilt, denn das Modell sagt nicht, welche seiner Klassen bösartig sind.",
          "risks": { "low": "gering", "moderate": "mittel", "high": "hoch" },
          "reasons": {
            "damaged_image": "beschädigtes Bild", "solid_color": "eine Farbe", "underexposed": "zu dunkel", "overexposed": "zu hell", "low_contrast": "wenig Kontrast", "no_lesion": "keine Läsion",
            "unlike_skin": "nicht wie Haut", "unusual_color": "ungewöhnliche Farben", "blurred": "unscharf", "not_dermoscopic": "nicht durch ein Dermatoskop", "out_of_distribution": "anders als die Trainingsbilder"
          },
          "warnings": {
            "damaged_file": "beschädigte Datei", "pixels_resampled": "Pixel umgerechnet", "solid_color": "eine Farbe", "near_black": "fast schwarz", "several_pictures": "mehrere Bilder",
            "color_profile": "Farbprofil", "small_image": "kleines Bild", "metadata_unused": "Angaben nicht benutzt", "metadata_from_file": "Angaben aus der Datei", "unoptimized_build": "ohne Optimierung übersetzt"
          }
        },
        "figure": {
          "scale": "Stützung der Klasse, 0–1", "responseScale": "Antwort der Merkmale, 0–1", "strongest": "Stärkste Stelle: {value}",
          "mapOf": "Karte von {label}", "probability": "{label}: Wahrscheinlichkeit {percent}", "at": "{method} an {layer}.",
          "response": "1 ist, wo die Merkmale am stärksten antworten, bei jeder Klasse.", "own": "0 ist keine Stützung der Klasse, 1 die stärkste in diesem Bild.",
          "each": "Jede Karte hat ihre eigene Skala: 0 ist keine Stützung ihrer Klasse, 1 die stärkste.",
          "shared": "Eine Farbskala für alle: 0 ist keine Stützung, 1 die stärkste für eine dieser Klassen.",
          "classic": "Farben von {percent} Deckkraft liegen über dem ganzen Foto.", "lines": "Linien bei 0,25, 0,5 und 0,75.",
          "ownLines": "Linien bei einem Viertel, der Hälfte und drei Vierteln der stärksten Stelle jeder Karte.",
          "elsewhere": "Wo keine Farbe ist, ist das Foto unverändert.",
          "allNegative": "Nichts zu zeigen: Keine Stelle stützt diese Klasse in dieser Schicht (all_negative).", "flat": "Nichts zu zeigen: Jede Stelle zählt gleich viel (flat)."
        },
        "trust": {
          "faster": "schneller als", "noFaster": "nicht schneller als",
          "deletion": "Verdecken: Werden die stärksten Stellen der Karte zuerst verdeckt, sinkt die Wahrscheinlichkeit {how} bei zufälligen Stellen (Mittel {value}, zufällig {random}; niedriger ist besser).",
          "insertion": "Zeigen: Werden die stärksten Stellen der Karte zuerst gezeigt, steigt die Wahrscheinlichkeit {how} bei zufälligen Stellen (Mittel {value}, zufällig {random}; höher ist besser).",
          "depends": "Zufall: Die Korrelation mit Karten gemischter Köpfe ist {value}: Die Karte hängt davon ab, was das Modell gelernt hat.",
          "shows": "Zufall: Die Korrelation mit Karten gemischter Köpfe ist {value}: Die Karte zeigt mehr das Bild als das, was das Modell gelernt hat."
        }
      }
      """#,
    errors: germanErrors)
}
