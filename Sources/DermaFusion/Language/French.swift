extension Language {
  /// French.
  public static let french = Language(
    "fr", decimalPoint: ",", percentSign: "\u{202F}%", countsBelowTwoAsOne: true,
    texts: #"""
      {
        "classes": {
          "akiec": "Kératoses actiniques", "bcc": "Carcinome basocellulaire", "bkl": "Lésions bénignes de type kératose", "df": "Dermatofibrome",
          "mel": "Mélanome", "nv": "Nævus mélanocytaires", "vasc": "Lésions vasculaires"
        },
        "sites": {
          "abdomen": "abdomen", "acral": "mains ou pieds", "back": "dos", "chest": "poitrine", "ear": "oreille", "face": "visage", "foot": "pied", "genital": "région génitale",
          "hand": "main", "lower extremity": "jambe", "neck": "cou", "scalp": "cuir chevelu", "trunk": "tronc", "unknown": "inconnu", "upper extremity": "bras"
        },
        "disclaimer": {
          "label": "Avertissement", "title": "Avant de commencer", "accept": "J’ai compris",
          "text": "DermaFusion est un outil de recherche et d’enseignement. Ce n’est PAS un dispositif médical et il n’a PAS été approuvé par la FDA ni par une autre autorité. Les résultats ne doivent PAS servir à un autodiagnostic. Consultez toujours un ou une dermatologue pour tout problème de peau.",
          "original": "La version anglaise fait foi :", "points": [
            { "icon": "lock", "text": "Vos photos restent sur cet appareil. La page ne charge rien et n’envoie rien." },
            { "icon": "scan", "text": "Elle est faite pour la dermoscopie : des photos prises à travers un dermatoscope. Des photos ordinaires de la peau donnent des réponses sans signification." },
            { "icon": "person", "text": "Un classement à faible risque peut être faux. Une lésion qui vous inquiète doit être montrée à un ou une dermatologue, quoi que dise cette page." }
          ]
        },
        "metadata": {
          "title": "Ce qui est connu", "lead": "Tout est facultatif. Ce que vous omettez est traité comme inconnu et indiqué dans le résultat.",
          "age": "Âge", "ageSlider": "Âge, curseur", "clearAge": "Effacer", "years": { "one": "{count} an", "other": "{count} ans" }, "ageMissing": "Âge non indiqué",
          "ageInvalid": "Entrez un âge de 0 à 130 ans, ou laissez le champ vide.", "ageClamped": "Le modèle compte tout âge supérieur à 100 comme 100.",
          "infant": "Âge 0 : s’agit-il d’un nourrisson de moins d’un an ?", "infantYes": "Oui, un nourrisson", "infantNo": "Non, laisser l’âge vide", "infantTaken": "Nourrisson de moins d’un an",
          "sex": "Sexe", "sexes": { "female": "Féminin", "male": "Masculin", "unknown": "Inconnu ou non précisé" },
          "site": "Emplacement sur le corps", "siteHelps": "Aucun emplacement n’est choisi. La réponse est en général meilleure avec un emplacement, mais vous pouvez continuer sans.",
          "notGiven": "non indiqué", "nothing": "âge, sexe et emplacement non indiqués", "unused": "Ce modèle travaille à partir de l’image seule. Vos indications sont notées mais ne changent pas le résultat."
        },
        "result": {
          "title": "Résultat", "heading": "Classification", "probabilities": "Probabilités",
          "suggests": "La classification suggère : {name} (confiance {percent}).", "suggestsBoth": "La classification suggère : {name} (confiance {percent}) ; à ne pas exclure : {other} ({otherPercent}).",
          "belowOnePercent": "inférieure à 1 %",
          "notDiagnosis": "Ceci n’est pas un diagnostic. Veuillez consulter un ou une dermatologue.", "urgent": "Une consultation urgente chez un ou une dermatologue est conseillée.",
          "noClassification": "Aucune classification n’est suggérée : le modèle s’abstient.",
          "abstains": "Aucune classification n’est suggérée pour cette image", "abstainAdvice": "Prenez une autre photo : nette, bien éclairée, la lésion au milieu, à travers un dermatoscope. Quoi que montre l’image, consultez un ou une dermatologue pour une lésion qui vous inquiète.",
          "barsUnreliable": "Les nombres du réseau, pour qui les étudie. Ne vous y fiez pas : le modèle s’abstient.",
          "lowConfidence": "La confiance est faible : aucune classe n’atteint 20 %.",
          "severalClasses": "Chaque classe a sa propre probabilité, car plusieurs peuvent être justes à la fois ; leur somme n’est pas 100 %.",
          "inSet": "Dans l’ensemble à 90 %", "inSetShort": "dans l’ensemble",
          "set": {
            "one": "L’ensemble à {percent} % ne contient que la classe « {names} ». Pour des photos comme celles sur lesquelles il a été ajusté, un tel ensemble contient la bonne classe {percent} fois sur 100. Une classe hors de l’ensemble n’est pas exclue.",
            "other": "L’ensemble à {percent} % contient {count} classes : {names}. Pour des photos comme celles sur lesquelles il a été ajusté, un tel ensemble contient la bonne classe {percent} fois sur 100. Une classe hors de l’ensemble n’est pas exclue."
          },
          "setUnknown": {
            "one": "L’ensemble ne contient que la classe « {names} ». On ne sait pas combien de fois un tel ensemble contient la bonne classe : il y avait trop peu de photos de la classe la plus probable pour l’ajuster. Une classe hors de l’ensemble n’est pas exclue.",
            "other": "L’ensemble contient {count} classes : {names}. On ne sait pas combien de fois un tel ensemble contient la bonne classe : il y avait trop peu de photos de la classe la plus probable pour l’ajuster. Une classe hors de l’ensemble n’est pas exclue."
          },
          "setWhy": "Chaque classe a son propre seuil, ajusté pour que la bonne classe manque rarement. Une classe rare peut donc être dans l’ensemble alors qu’une classe plus probable n’y est pas.",
          "moved": "Le carré a été déplacé ou agrandi : le modèle a vu {side} sur {side} pixels à partir de {left}, {top}, et non le centre de la photo.",
          "reduced": "La photo était trop grande et a d’abord été réduite à {width} sur {height} pixels.",
          "actions": "Que faire du résultat", "more": "Comment cela a été calculé", "change": "Modifier l’âge, le sexe ou l’emplacement", "stale": "L’âge, le sexe, l’emplacement ou le carré ont changé depuis. Ce résultat est périmé ; mettez-le à jour avant de l’enregistrer, de l’exporter ou de l’imprimer.", "outOfDate": "Périmé", "update": "Mettre à jour le résultat",
          "save": "Ajouter à l’historique", "saveAgain": "Enregistrer les modifications", "saved": "Enregistré", "next": "Nouvel examen", "report": "Imprimer ou PDF", "square": "Ajuster le carré"
        },
        "risk": {
          "low": { "word": "Classé à faible risque", "sentence": "Faites confirmer par un ou une dermatologue.", "full": "Classé à faible risque. Faites confirmer par un ou une dermatologue." },
          "moderate": { "word": "Classé à risque modéré", "sentence": "Consultez un ou une dermatologue.", "full": "Classé à risque modéré. Consultez un ou une dermatologue." },
          "high": { "word": "Classé à risque élevé", "sentence": "Consultez rapidement un ou une dermatologue.", "full": "Classé à risque élevé. Consultez rapidement un ou une dermatologue." },
          "abstain": { "word": "Aucun risque indiqué", "sentence": "Le modèle s’abstient." },
          "unknown": { "word": "Aucun risque indiqué", "sentence": "Ce modèle ne dit pas lesquelles de ses classes sont malignes." }
        },
        "abstain": {
          "damaged_image": "Le fichier de l’image est endommagé, et une partie de ce qu’il montre peut être inventée.",
          "solid_color": "L’image n’a presque pas de variation de couleur.", "underexposed": "L’image, ou l’un de ses canaux de couleur, est trop sombre.", "overexposed": "L’image est trop claire.",
          "low_contrast": "Presque rien dans l’image ne se détache de son entourage.", "no_lesion": "L’image ne montre aucune structure comme une lésion.",
          "unlike_skin": "Une grande partie de l’image a une couleur que la peau n’a pas.", "unusual_color": "L’image n’a pas de couleur, ou a des couleurs que la peau n’a pas sous un dermatoscope.",
          "blurred": "L’image est très floue.", "not_dermoscopic": "Cela ne ressemble pas à une image prise au dermatoscope, et le modèle n’en connaît pas d’autres.",
          "out_of_distribution": "L’image ne ressemble pas à celles sur lesquelles le modèle a été entraîné."
        },
        "warnings": {
          "damaged_file": "Le fichier de l’image est endommagé ; ce qu’il montre peut différer de ce qui a été enregistré.", "unoptimized_build": "DermaFusion a été compilé sans optimisation, et une image prend environ une minute.",
          "solid_color": "L’image n’a presque pas de variation de couleur et ne montre peut-être pas de lésion ; la constance des couleurs a été omise.", "near_black": "Un canal de couleur de l’image est presque noir ; la constance des couleurs a été omise.",
          "small_image": "L’image est plus petite que 100x100 pixels ; les structures fines sont perdues.", "metadata_unused": "L’âge, le sexe ou l’emplacement n’ont pas été utilisés : ce modèle travaille à partir de l’image seule.",
          "several_pictures": "Le fichier contient {detail} images ; seule la première a été examinée.",
          "color_profile": "Les couleurs du fichier sont celles du profil {detail}, et non sRGB ; ses valeurs ont été utilisées telles qu’elles sont enregistrées, et le modèle voit peut-être d’autres couleurs que l’œil.",
          "pixels_resampled": "Selon le fichier, ses pixels ne sont pas carrés ; l’image a été rééchantillonnée pour que les formes soient justes.",
          "metadata_from_file": "L’âge, le sexe ou l’emplacement qui n’avaient pas été indiqués viennent du fichier de l’image."
        },
        "heatmap": {
          "heading": "Où le réseau a regardé", "title": "Appui à la classe", "weak": "faible", "strong": "fort", "show": "Montrer la carte de chaleur", "beside": "Photo à côté de la carte", "peek": "Maintenir : la photo seule", "shown": "La carte pour {name} est affichée.", "opacity": "Opacité", "class": "Classe",
          "figure": "Photo avec carte de chaleur", "hidden": "La carte de chaleur est masquée.",
          "scale": "Les couleurs se rapportent à cette carte seule : elles comparent ses zones, et non une classe à une autre. Le modèle donne {percent} à la classe « {name} ».",
          "photographAlone": "Le carré de la photo, sans carte de chaleur", "photographWithMap": "Le carré de la photo avec la carte de chaleur pour {name} par-dessus",
          "caption": "Les zones claires appuient le plus la classe « {name} ». La carte est grossière : elle dit à peu près où, jamais pourquoi.",
          "centre": "Ses zones claires se trouvent surtout {place}.",
          "places": ["en haut à gauche", "en haut", "en haut à droite", "à gauche", "au milieu", "à droite", "en bas à gauche", "en bas", "en bas à droite"],
          "captionFailed": "Les zones claires sont celles où cette carte est forte pour la classe « {name} », mais elle a échoué à au moins un de ses trois contrôles : ne vous y fiez pas.", "all_negative": "La carte de chaleur est faible partout : aucune zone n’appuie la classe « {name} ».", "flat": "La carte de chaleur est la même partout : aucune zone ne ressort pour la classe « {name} ».",
          "trust": "Jusqu’où s’y fier : une carte de chaleur peut sembler convaincante et être fausse, et elle ne montre pas que la classification est juste.", "checks": { "one": "Trois contrôles cachent et montrent des parties de l’image et mesurent ce qui change. Ils font travailler le réseau environ 140 fois, ce qui prend ici environ {count} seconde.", "other": "Trois contrôles cachent et montrent des parties de l’image et mesurent ce qui change. Ils font travailler le réseau environ 140 fois, ce qui prend ici environ {count} secondes." }, "elapsed": { "one": "{seconds} sur environ {count} seconde", "other": "{seconds} sur environ {count} secondes" }, "check": "Contrôler cette carte",
          "checking": "Contrôle de la carte ...", "passes": "Cette carte a passé les trois contrôles, ce qui ne rend juste ni la carte ni la classification.", "fails": "Cette carte a échoué à au moins un des trois contrôles : ne vous y fiez pas.",
          "unchecked": "Cette carte n’a pas été contrôlée.", "measurements": "Mesures",
          "deletion": "Cacher : la probabilité moyenne est {value} quand les endroits les plus forts de la carte sont cachés d’abord, et {random} avec des endroits au hasard. La première devrait être plus basse.",
          "insertion": "Montrer : la probabilité moyenne est {value} quand les endroits les plus forts de la carte sont montrés d’abord, et {random} avec des endroits au hasard. La première devrait être plus haute.",
          "shuffled": "Hasard : la corrélation avec les cartes du même réseau dont la dernière couche a été mélangée est {value}. Elle devrait être inférieure à 0,5.",
          "noVariance": "Hasard : une carte sans variance ne peut pas être comparée.",
          "failed": "Il n’y a pas de carte de chaleur.", "abstains": "Le modèle s’abstient : une carte de chaleur ne dit alors rien de la lésion.", "noPhotograph": "La photo n’a pas été gardée ou n’est pas lisible, il n’y a donc pas de carte de chaleur."
        },
        "facts": {
          "image": "Image", "date": "Date", "imageHash": "SHA-256 du fichier", "square": "Carré", "squareValue": "{side} sur {side} pixels à partir de {left}, {top} de {width} sur {height}",
          "model": "Modèle", "modelHash": "SHA-256 du modèle", "time": "Temps", "timeValue": "{decode} ms pour lire, {engine} ms pour calculer"
        },
        "report": {
          "title": "Rapport DermaFusion", "scans": { "one": "{count} examen", "other": "{count} examens" }, "photograph": "Photo : le carré que le modèle a vu", "heatmap": "Carte de chaleur", "noHeatmap": "Carte de chaleur indisponible", "noPhotograph": "Photo indisponible",
          "failed": "Ce navigateur ne laisse pas la page imprimer. Utilisez le menu du navigateur, ou exportez le résultat en JSON ou en CSV.", "made": "Comment cela a été fait", "page": "Page : SHA-256 {hash}"
        },
        "reportFile": {
          "heading": { "one": "Rapport sur une image dermoscopique", "other": "Rapport sur {count} images dermoscopiques" },
          "title": { "one": "{name} - rapport DermaFusion", "other": "Rapport DermaFusion sur {count} images" },
          "titled": "{title} - rapport DermaFusion",
          "images": { "one": "{count} image", "other": "{count} images" },
          "risks": "Risque : {high} élevé, {moderate} modéré, {low} faible.",
          "abstained": "Le modèle s’abstient pour {count}.",
          "failed": "Échecs : {count}.",
          "shown": "Cette page montre les images dont le résultat est {levels} : {shown} sur {count}. Les autres sont omises.",
          "levels": { "low": "risque faible", "moderate": "risque modéré", "high": "risque élevé", "abstained": "abstention", "unjudged": "sans risque indiqué" },
          "index": "Toutes les images", "back": "Retour à toutes les images", "pages": "{page} sur {pages}",
          "cannotExclude": "à ne pas exclure : {name} ({percent})",
          "without": "Images sans résultat",
          "answerSheet": "Réponses", "answers": "Montrer les réponses",
          "labelled": "Selon le tableau : {name}.", "first": "Le modèle place cette classe en premier.", "another": "Le modèle place une autre classe en premier.",
          "views": "Ce qui est montré", "photograph": "Photo", "photographOf": "Photo {name}",
          "square": "Le carré central de l’image : le modèle ne voit rien d’autre.",
          "mapOf": "Carte de chaleur sur la photo {image} : les zones qui appuient {name}",
          "maps": "Cartes de chaleur des autres classes",
          "noMap": "Un ensemble n’a pas de carte à lui ; gradcam en dessine une pour un de ses membres.",
          "more": { "one": "{count} autre classe est moins probable que celles-ci.", "other": "{count} autres classes sont moins probables que celles-ci." },
          "probabilities": "Probabilité de chaque classe",
          "unreliable": "Les probabilités, qui signifient peu pour cette image",
          "warnings": "Avertissements",
          "told": "Ce que le modèle savait, et quel modèle c’était",
          "set": "Ensemble à {percent} %",
          "setUnknown": "Ensemble de classes, part inconnue",
          "made": "Fait par DermaFusion {version} sur l’ordinateur où se trouvent les images.",
          "madeOn": "Fait par DermaFusion {version} le {date} sur l’ordinateur où se trouvent les images.",
          "sees": "Le modèle voit le carré central d’une image et ce qu’on lui dit de la personne, rien d’autre."
        },
        "withoutDetail": {
          "several_pictures": "Le fichier contient plusieurs images ; seule la première a été examinée.",
          "color_profile": "Les couleurs du fichier sont celles d’un autre profil, et non sRGB ; ses valeurs ont été utilisées telles qu’elles sont enregistrées, et le modèle voit peut-être d’autres couleurs que l’œil."
        },
        "text": {
          "unreliable": "Les probabilités, qui signifient peu pour cette image :", "risk": "Risque", "confidence": "Confiance",
          "anySet": "Ensemble", "unknownShare": " ; on ne sait pas combien de fois il contient la bonne classe", "andMore": "{names} et {count} autres",
          "metadata": "Patient", "warning": "Attention", "views": "Vues", "viewsMean": "logits moyens de {count} vues, tournées et retournées", "model": "Modèle",
          "time": "Temps", "times": "lecture {decode} ms, prétraitement {preprocess} ms, réseau {network} ms",
          "abstains": "non évalué, car le modèle s’abstient", "unjudged": "non évalué, car le modèle ne dit pas lesquelles de ses classes sont malignes",
          "classes": "Classes", "moreClassesAtMost": "{count} autres classes, chacune au plus", "moreClasses": "{count} autres classes", "logitsWith": "Logits avec",
          "logits": { "imageAlone": "image", "everything": "tout", "withoutAge": "-âge", "withoutSex": "-sexe", "withoutSite": "-empl." },
          "age": "âge {age}", "ageMissing": "âge manquant", "sexes": { "female": "sexe féminin", "male": "sexe masculin", "unknown": "sexe manquant" }, "siteMissing": "emplacement manquant",
          "method": "Méthode", "methodAt": "{method} à {layer}, {height}x{width}", "picture": "Image", "array": "Tableau", "probability": "{label}, probabilité {percent}",
          "support": "L’appui à la classe", "response": "La réponse des caractéristiques, la même pour toutes les classes,", "against": " ; les valeurs négatives comptent contre la classe",
          "range": "{subject} va de {least} à {greatest}{against}. Le centre de la carte montrée se trouve à {x} de la gauche et à {y} du haut."
        },
        "table": {
          "image": "Image", "class": "Classe", "probability": "Prob.", "risk": "Risque", "remark": "Remarque", "abstains": "s’abstient : {reasons}", "lowConfidence": "confiance faible",
          "passed": "a passé les contrôles", "failed": "a échoué à un contrôle : ne vous fiez pas à la carte", "picture": "image {path}", "classes": "Classes : {names}.",
          "colon": " : ", "notDiagnosis": "Une classification n’est pas un diagnostic. Veuillez consulter un ou une dermatologue.",
          "unjudged": "Le risque n’est pas évalué, car le modèle ne dit pas lesquelles de ses classes sont malignes.",
          "risks": { "low": "faible", "moderate": "modéré", "high": "élevé" },
          "reasons": {
            "damaged_image": "image endommagée", "solid_color": "une seule couleur", "underexposed": "trop sombre", "overexposed": "trop claire", "low_contrast": "peu de contraste", "no_lesion": "pas de lésion",
            "unlike_skin": "ne ressemble pas à la peau", "unusual_color": "couleurs inhabituelles", "blurred": "floue", "not_dermoscopic": "pas prise au dermatoscope", "out_of_distribution": "différente des images d’entraînement"
          },
          "warnings": {
            "damaged_file": "fichier endommagé", "pixels_resampled": "pixels rééchantillonnés", "solid_color": "une seule couleur", "near_black": "presque noir", "several_pictures": "plusieurs images",
            "color_profile": "profil de couleur", "small_image": "petite image", "metadata_unused": "indications non utilisées", "metadata_from_file": "indications du fichier", "unoptimized_build": "compilé sans optimisation"
          }
        },
        "figure": {
          "scale": "Appui à la classe, 0–1", "responseScale": "Réponse des caractéristiques, 0–1", "strongest": "Endroit le plus fort : {value}",
          "mapOf": "Carte de {label}", "probability": "{label} : probabilité {percent}", "at": "{method} à {layer}.",
          "response": "1 est l’endroit où les caractéristiques répondent le plus, pour toutes les classes.", "own": "0 est aucun appui à la classe, 1 le plus fort dans cette image.",
          "each": "Chaque carte a sa propre échelle : 0 est aucun appui à sa classe, 1 le plus fort.",
          "shared": "Une échelle de couleurs pour toutes : 0 est aucun appui, 1 le plus fort pour l’une de ces classes.",
          "classic": "Des couleurs d’une opacité de {percent} couvrent toute la photo.", "lines": "Lignes à 0,25, 0,5 et 0,75.",
          "ownLines": "Lignes au quart, à la moitié et aux trois quarts de l’endroit le plus fort de chaque carte.",
          "elsewhere": "Là où il n’y a pas de couleur, la photo est inchangée.",
          "allNegative": "Rien à montrer : aucun endroit n’appuie cette classe dans cette couche (all_negative).", "flat": "Rien à montrer : tous les endroits comptent autant (flat)."
        },
        "trust": {
          "faster": "plus vite qu’", "noFaster": "pas plus vite qu’",
          "deletion": "Cacher : quand les endroits les plus forts de la carte sont cachés d’abord, la probabilité baisse {how}avec des endroits au hasard (moyenne {value}, hasard {random} ; plus bas est mieux).",
          "insertion": "Montrer : quand les endroits les plus forts de la carte sont montrés d’abord, la probabilité monte {how}avec des endroits au hasard (moyenne {value}, hasard {random} ; plus haut est mieux).",
          "depends": "Hasard : la corrélation avec les cartes de têtes mélangées est {value} : la carte dépend de ce que le modèle a appris.",
          "shows": "Hasard : la corrélation avec les cartes de têtes mélangées est {value} : la carte montre plus l’image que ce que le modèle a appris."
        }
      }
      """#,
    errors: frenchErrors)
}
