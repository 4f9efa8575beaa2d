extension Language {
  /// English, the original: every text of another language is a translation of its text here.
  public static let english = Language(
    "en", decimalPoint: ".", percentSign: "%", countsBelowTwoAsOne: false,
    texts: #"""
      {
        "classes": {
          "akiec": "Actinic keratoses", "bcc": "Basal cell carcinoma", "bkl": "Benign keratosis-like lesions", "df": "Dermatofibroma",
          "mel": "Melanoma", "nv": "Melanocytic nevi", "vasc": "Vascular lesions"
        },
        "sites": {
          "abdomen": "abdomen", "acral": "acral", "back": "back", "chest": "chest", "ear": "ear", "face": "face", "foot": "foot", "genital": "genital",
          "hand": "hand", "lower extremity": "lower extremity", "neck": "neck", "scalp": "scalp", "trunk": "trunk", "unknown": "unknown", "upper extremity": "upper extremity"
        },
        "disclaimer": {
          "label": "Disclaimer", "title": "Before you begin", "accept": "I understand",
          "text": "DermaFusion is a research and educational tool. It is NOT a medical device and has NOT been approved by the FDA or any regulatory authority. Results should NOT be used for self-diagnosis. Always consult a qualified dermatologist for skin concerns.",
          "original": "The English wording counts:", "points": [
            { "icon": "lock", "text": "Your photographs stay on this device. The page loads nothing and sends nothing." },
            { "icon": "scan", "text": "It is made for dermoscopy: photographs taken through a dermatoscope. Ordinary photographs of skin give answers without meaning." },
            { "icon": "person", "text": "A low risk classification can be wrong. Show a lesion that worries you to a dermatologist, whatever this page says." }
          ]
        },
        "metadata": {
          "title": "What is known", "lead": "All of this is optional. What you leave out is treated as unknown and listed in the result.",
          "age": "Age", "ageSlider": "Age, slider", "clearAge": "Clear", "years": { "one": "{count} year", "other": "{count} years" }, "ageMissing": "Age not given",
          "ageInvalid": "Enter an age from 0 to 130 years, or leave the field empty.", "ageClamped": "The model counts every age above 100 as 100.",
          "infant": "Age 0: is the patient an infant under one year?", "infantYes": "Yes, an infant", "infantNo": "No, leave the age empty", "infantTaken": "Infant under one year",
          "sex": "Sex", "sexes": { "female": "Female", "male": "Male", "unknown": "Unknown or not said" },
          "site": "Place on the body", "siteHelps": "No place is chosen. The answer is usually better with one, but you can go on without.",
          "notGiven": "not given", "nothing": "age, sex and place not given", "unused": "This model works from the image alone. What you enter is recorded but does not change the result."
        },
        "result": {
          "title": "Result", "heading": "Classification", "probabilities": "Probabilities",
          "suggests": "Classification suggests {name} ({percent} confidence).", "suggestsBoth": "Classification suggests {name} ({percent} confidence); {other} cannot be excluded ({otherPercent}).",
          "belowOnePercent": "less than 1%",
          "notDiagnosis": "This is not a diagnosis. Please consult a dermatologist.", "urgent": "An urgent consultation with a dermatologist is advised.",
          "noClassification": "No classification is suggested: the model abstains.",
          "abstains": "No classification is suggested for this image", "abstainAdvice": "Take another photograph: sharp, well lit, the lesion in the middle, through a dermatoscope. Whatever the image shows, consult a dermatologist about a lesion that worries you.",
          "barsUnreliable": "The network's numbers, for study only. Do not rely on them: the model abstains.",
          "lowConfidence": "Confidence is low: no class reaches 20%.",
          "severalClasses": "Each class has a probability of its own, because several may be right at once; they do not add up to 100%.",
          "inSet": "In the 90% set", "inSetShort": "in the set",
          "set": {
            "one": "The {percent}% set holds {names} only. In photographs like those it was fitted on, such sets hold the right class {percent} times in 100. A class outside the set is not ruled out.",
            "other": "The {percent}% set holds {count} classes: {names}. In photographs like those it was fitted on, such sets hold the right class {percent} times in 100. A class outside the set is not ruled out."
          },
          "setUnknown": {
            "one": "The set holds {names} only. How often such sets hold the right class is not known: too few photographs of the likeliest class were there to fit it. A class outside the set is not ruled out.",
            "other": "The set holds {count} classes: {names}. How often such sets hold the right class is not known: too few photographs of the likeliest class were there to fit it. A class outside the set is not ruled out."
          },
          "setWhy": "Each class has a threshold of its own, fitted so that the right class is seldom left out. So a rare class can be in the set while a likelier one is not.",
          "moved": "The square was moved or zoomed: the model saw {side} by {side} pixels from {left}, {top}, not the centre of the photograph.",
          "reduced": "The photograph was too large and was reduced to {width} by {height} pixels first.",
          "actions": "What to do with the result", "more": "How this was computed", "change": "Change age, sex or place", "stale": "Age, sex, place or square have changed since. This result is out of date; update it before it is saved, exported or printed.", "outOfDate": "Out of date", "update": "Update the result",
          "save": "Save to history", "saveAgain": "Save the changes", "saved": "Saved", "next": "New scan", "report": "Print or PDF", "square": "Adjust square"
        },
        "risk": {
          "low": { "word": "Low risk classification", "sentence": "Consult a dermatologist for confirmation.", "full": "Low risk classification, consult a dermatologist for confirmation." },
          "moderate": { "word": "Moderate risk classification", "sentence": "Consult a dermatologist.", "full": "Moderate risk classification, consult a dermatologist." },
          "high": { "word": "High risk classification", "sentence": "Consult a dermatologist promptly.", "full": "High risk classification, consult a dermatologist promptly." },
          "abstain": { "word": "No risk is given", "sentence": "The model abstains." },
          "unknown": { "word": "No risk is given", "sentence": "This model does not say which of its classes are malignant." }
        },
        "abstain": {
          "damaged_image": "The image file is damaged, and part of what it shows may be made up.",
          "solid_color": "The image has hardly any colour variation.", "underexposed": "The image, or one of its colour channels, is too dark.", "overexposed": "The image is too bright.",
          "low_contrast": "Hardly anything in the image stands out from its surroundings.", "no_lesion": "The image shows no structure like a lesion.",
          "unlike_skin": "Much of the image has a colour that skin does not have.", "unusual_color": "The image has no colour, or colours that skin under a dermatoscope does not have.",
          "blurred": "The image is badly blurred.", "not_dermoscopic": "This does not look like a picture through a dermatoscope, and the model knows no other pictures.",
          "out_of_distribution": "The image is unlike those that the model was trained on."
        },
        "warnings": {
          "damaged_file": "The image file is damaged; what it shows may differ from what was stored.", "unoptimized_build": "DermaFusion was built without optimisation, and an image takes about a minute; build in release, or with -Xswiftc -O.",
          "solid_color": "The image has hardly any colour variation and may not show a lesion; colour constancy was skipped.", "near_black": "A colour channel of the image is almost black; colour constancy was skipped.",
          "small_image": "The image is smaller than 100x100 pixels; fine structures are lost.", "metadata_unused": "The age, sex or site was not used: this model works from the image alone.",
          "several_pictures": "The image file holds {detail} pictures; only the first was looked at.",
          "color_profile": "The image file's colours are of the profile {detail}, not sRGB; its values were used as they are stored, and the model may see other colours than a person does.",
          "pixels_resampled": "The file says that its pixels are not square (DICOM); the image was resampled so that shapes are right.",
          "metadata_from_file": "The age, sex or site that was not given was taken from the image's file (DICOM)."
        },
        "heatmap": {
          "heading": "Where the network looked", "title": "Support for the class", "weak": "weak", "strong": "strong", "show": "Show the heatmap", "beside": "Photograph beside the map", "peek": "Hold to see the photograph", "shown": "The heatmap for {name} is shown.", "opacity": "Opacity", "class": "Class",
          "figure": "Photograph with heatmap", "hidden": "The heatmap is hidden.",
          "scale": "The colours are scaled to this map alone: they compare its areas, not one class with another. The model gives {name} {percent}.",
          "photographAlone": "The photograph's square, without heatmap", "photographWithMap": "The photograph's square with the heatmap for {name} over it",
          "caption": "Bright areas support {name} most. The map is coarse: it says roughly where, never why.",
          "centre": "Its bright areas lie mostly {place}.",
          "places": ["at the upper left", "at the top", "at the upper right", "at the left", "in the middle", "at the right", "at the lower left", "at the bottom", "at the lower right"],
          "captionFailed": "The bright areas are where this map is strong for {name}, but the map failed at least one of its three checks: do not rely on it.", "all_negative": "The heatmap is low everywhere: no area supports {name}.", "flat": "The heatmap is the same everywhere: no area stands out for {name}.",
          "trust": "How far to trust it: a heatmap can look convincing and be wrong, and it does not show that the classification is right.", "checks": { "one": "Three checks hide and show parts of the image and count what changes. They run the network about 140 times, which takes about {count} second here.", "other": "Three checks hide and show parts of the image and count what changes. They run the network about 140 times, which takes about {count} seconds here." }, "elapsed": { "one": "{seconds} of about {count} second", "other": "{seconds} of about {count} seconds" }, "check": "Check this map",
          "checking": "Checking the map ...", "passes": "This map passed all three checks, which does not make it or the classification right.", "fails": "This map failed at least one of the three checks: do not rely on it.",
          "unchecked": "This map was not checked.", "measurements": "Measurements",
          "deletion": "Deletion: the mean probability is {value} while the map's strongest places are hidden first, and {random} with random places. The first should be lower.",
          "insertion": "Insertion: the mean probability is {value} while the map's strongest places are shown first, and {random} with random places. The first should be higher.",
          "shuffled": "Randomisation: the correlation with maps of the same network after its last layer was shuffled is {value}. It should be below 0.5.",
          "noVariance": "Randomisation: a map without variance cannot be compared.",
          "failed": "There is no heatmap.", "abstains": "The model abstains: a heatmap says nothing about the lesion then.", "noPhotograph": "The photograph was not kept or cannot be read, so there is no heatmap."
        },
        "facts": {
          "image": "Image", "date": "Date", "imageHash": "SHA-256 of the file", "square": "Square", "squareValue": "{side} by {side} pixels from {left}, {top} of {width} by {height}",
          "model": "Model", "modelHash": "SHA-256 of the model", "time": "Time taken", "timeValue": "{decode} ms to decode, {engine} ms to compute"
        },
        "report": {
          "title": "DermaFusion report", "scans": { "one": "{count} scan", "other": "{count} scans" }, "photograph": "Photograph: the square that the model saw", "heatmap": "Heatmap", "noHeatmap": "Heatmap unavailable", "noPhotograph": "Photograph unavailable",
          "failed": "This browser does not let the page print. Use the browser's own menu, or export the result as JSON or CSV.", "made": "How this was made", "page": "Page: SHA-256 {hash}"
        },
        "reportFile": {
          "heading": { "one": "Report of a dermoscopy image", "other": "Report of {count} dermoscopy images" },
          "title": { "one": "{name} - DermaFusion report", "other": "DermaFusion report of {count} images" },
          "titled": "{title} - DermaFusion report",
          "images": { "one": "{count} image", "other": "{count} images" },
          "risks": "Risk: {high} high, {moderate} moderate, {low} low.",
          "abstained": "The model abstains from {count}.",
          "failed": "{count} failed.",
          "shown": "This page shows the images with the result {levels}: {shown} of {count}. The others are left out.",
          "levels": { "low": "low", "moderate": "moderate", "high": "high", "abstained": "abstained", "unjudged": "unjudged" },
          "index": "All images", "back": "Back to all images", "pages": "{page} of {pages}",
          "cannotExclude": "{name} cannot be excluded ({percent})",
          "without": "Images without a result",
          "answerSheet": "Answers", "answers": "Show the answers",
          "labelled": "Labelled: {name}.", "first": "The model ranks it first.", "another": "The model ranks another class first.",
          "views": "What is shown", "photograph": "Photograph", "photographOf": "Photograph {name}",
          "square": "The centre square of the image, which is all that the model sees.",
          "mapOf": "Heatmap over the photograph {image}: the regions that support {name}",
          "maps": "Heatmaps of the other classes",
          "noMap": "An ensemble has no map of its own; ask gradcam for one of a member.",
          "more": { "one": "{count} more class is less likely than these.", "other": "{count} more classes are less likely than these." },
          "probabilities": "Probability of each class",
          "unreliable": "The probabilities, which mean little for this image",
          "warnings": "Warnings",
          "told": "What the model was told, and which model it was",
          "set": "{percent} % set",
          "setUnknown": "Set of classes, its share not known",
          "made": "Made by DermaFusion {version} on the machine that holds the images.",
          "madeOn": "Made by DermaFusion {version} on {date} on the machine that holds the images.",
          "sees": "The model sees the centre square of an image and what it is told of the patient, nothing else."
        },
        "withoutDetail": {
          "several_pictures": "The image file holds several pictures; only the first was looked at.",
          "color_profile": "The image file's colours are of another profile, not sRGB; its values were used as they are stored, and the model may see other colours than a person does."
        },
        "text": {
          "unreliable": "The probabilities, which mean little for this image:", "risk": "Risk", "confidence": "Confidence",
          "anySet": "Set", "unknownShare": "; how often it holds the right class is not known", "andMore": "{names} and {count} more",
          "metadata": "Metadata", "warning": "Warning", "views": "Views", "viewsMean": "mean logits of {count} views, turned and mirrored", "model": "Model",
          "time": "Time", "times": "decode {decode} ms, preprocess {preprocess} ms, network {network} ms",
          "abstains": "not judged, since the model abstains", "unjudged": "not judged, since the model does not say which of its classes are malignant",
          "classes": "Classes", "moreClassesAtMost": "{count} more classes, each at most", "moreClasses": "{count} more classes", "logitsWith": "Logits with",
          "logits": { "imageAlone": "image", "everything": "all", "withoutAge": "-age", "withoutSex": "-sex", "withoutSite": "-site" },
          "age": "age {age}", "ageMissing": "age missing", "sexes": { "female": "female", "male": "male", "unknown": "sex missing" }, "siteMissing": "site missing",
          "method": "Method", "methodAt": "{method} at {layer}, {height}x{width}", "picture": "Picture", "array": "Array", "probability": "{label}, probability {percent}",
          "support": "Support for the class", "response": "The response of the features, which is the same for every class,", "against": "; negative values count against the class",
          "range": "{subject} ranges from {least} to {greatest}{against}. The centre of the shown map lies {x} from the left and {y} from the top."
        },
        "table": {
          "image": "Image", "class": "Class", "probability": "Prob.", "risk": "Risk", "remark": "Remark", "abstains": "abstains: {reasons}", "lowConfidence": "low confidence",
          "passed": "passed the checks", "failed": "failed a check: do not rely on the map", "picture": "picture {path}", "classes": "Classes: {names}.",
          "colon": ": ", "notDiagnosis": "A classification is not a diagnosis. Please consult a dermatologist.",
          "unjudged": "Risk is not judged, since the model does not say which of its classes are malignant.",
          "risks": { "low": "low", "moderate": "moderate", "high": "high" },
          "reasons": {
            "damaged_image": "damaged image", "solid_color": "solid color", "underexposed": "underexposed", "overexposed": "overexposed", "low_contrast": "low contrast", "no_lesion": "no lesion",
            "unlike_skin": "unlike skin", "unusual_color": "unusual color", "blurred": "blurred", "not_dermoscopic": "not dermoscopic", "out_of_distribution": "out of distribution"
          },
          "warnings": {
            "damaged_file": "damaged file", "pixels_resampled": "pixels resampled", "solid_color": "solid color", "near_black": "near black", "several_pictures": "several pictures",
            "color_profile": "color profile", "small_image": "small image", "metadata_unused": "metadata unused", "metadata_from_file": "metadata from file", "unoptimized_build": "unoptimized build"
          }
        },
        "figure": {
          "scale": "Support for the class, 0–1", "responseScale": "Response of the features, 0–1", "strongest": "Strongest place: {value}",
          "mapOf": "Map of {label}", "probability": "{label}: probability {percent}", "at": "{method} at {layer}.",
          "response": "1 is where the features respond most, whatever the class.", "own": "0 is no support for the class, 1 the strongest in this image.",
          "each": "Each map has its own scale: 0 is no support for its class, 1 the strongest.",
          "shared": "One scale of colours for all: 0 is no support, 1 the strongest for any of these classes.",
          "classic": "Colours of {percent} opacity lie over the whole photograph.", "lines": "Lines at 0.25, 0.5 and 0.75.",
          "ownLines": "Lines at a quarter, half and three quarters of each map's own strongest place.",
          "elsewhere": "Where there is no colour, the photograph is as it was.",
          "allNegative": "Nothing to show: no place supports this class at this layer (all_negative).", "flat": "Nothing to show: every place counts the same (flat)."
        },
        "trust": {
          "faster": "faster than", "noFaster": "no faster than",
          "deletion": "Deletion: hiding the map's strongest places first lowers the probability {how} hiding random ones (mean {value}, random {random}; lower is better).",
          "insertion": "Insertion: showing the map's strongest places first raises the probability {how} showing random ones (mean {value}, random {random}; higher is better).",
          "depends": "Randomisation: the correlation with maps of shuffled heads is {value}: it depends on what the model learned.",
          "shows": "Randomisation: the correlation with maps of shuffled heads is {value}: it shows the image more than what the model learned."
        }
      }
      """#)
}
