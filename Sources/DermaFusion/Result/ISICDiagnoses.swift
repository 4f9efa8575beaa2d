import Files

/// The ISIC archive's words for classes. `python -m dermafusion_training isic-vocabulary` writes this file.
enum ISICDiagnoses {
  /// The version of the package isic-metadata, which holds the vocabulary.
  static let version = "4.12.0"

  /// A line for each class: the ids that models give it, best first, and its words in lower case.
  private static let table = """
    mel: malignant melanocytic proliferations (melanoma); melanoma; melanoma in situ; melanoma in situ, acral or \
    acral-lentiginous; melanoma in situ, associated with a nevus; melanoma in situ, lentigo maligna type; melanoma \
    in situ, mucosal; melanoma in situ, recurrent or persistent; melanoma in situ, superficial spreading; melanoma \
    invasive; melanoma invasive, acral or acral-lentiginous; melanoma invasive, arising in a congenital nevus; \
    melanoma invasive, associated with a nevus; melanoma invasive, blue nevus-like; melanoma invasive, desmoplastic; \
    melanoma invasive, heavily pigmented; melanoma invasive, heavily pigmented, resembling epithelioid blue nevus or \
    melanoma developing in animals; melanoma invasive, mucosal; melanoma invasive, neurotropic; melanoma invasive, \
    nevoid; melanoma invasive, nodular; melanoma invasive, on chronically sun-exposed skin or lentigo maligna \
    melanoma; melanoma invasive, originating from blue nevus; melanoma invasive, pigmented spindle cell nevus like; \
    melanoma invasive, recurrent or persistent; melanoma invasive, resembling blue nevus; melanoma invasive, \
    spitzoid; melanoma invasive, superficial spreading; melanoma metastasis; melanoma, nos
    nv: blue nevus; blue nevus, cellular; blue nevus, common; blue nevus, epithelioid; blue nevus, plaque type; blue \
    nevus, sclerosing; nevus; nevus, acral; nevus, agminated; nevus, atypical; nevus, atypical, dysplastic, or \
    clark; nevus, balloon cell; nevus, bap-1 deficient; nevus, clark; nevus, combined; nevus, congenital; nevus, \
    congenital, by histopathological pattern; nevus, congenital, by history; nevus, congenital, by history and \
    histopathological pattern; nevus, deep penetrating; nevus, dysplastic; nevus, halo; nevus, lentiginous; nevus, \
    meyerson; nevus, nos, compound; nevus, nos, dermal; nevus, nos, junctional; nevus, of special anatomic site; \
    nevus, recurrent or persistent; nevus, reed; nevus, spilus; nevus, spitz
    bcc: basal cell carcinoma; basal cell carcinoma with adnexal differentiation; basal cell carcinoma with \
    sarcomatoid differentiation; basal cell carcinoma, combined subtypes; basal cell carcinoma, fibroeipthelial; \
    basal cell carcinoma, infiltrating; basal cell carcinoma, micronodular; basal cell carcinoma, nodular; basal \
    cell carcinoma, sclerosing or morpheaform; basal cell carcinoma, superficial
    akiec ak: actinic keratosis; actinic keratosis, acantholytic; actinic keratosis, atrophic; actinic keratosis, \
    bowenoid; actinic keratosis, hypertrophic; actinic keratosis, lichenoid; ak; solar or actinic keratosis
    akiec scc: squamous cell carcinoma in situ; squamous cell carcinoma in situ, bowens disease
    scc sccka: squamous cell carcinoma; squamous cell carcinoma, invasive; squamous cell carcinoma, invasive, \
    acantholytic; squamous cell carcinoma, invasive, acantholytic, moderately differentiated; squamous cell \
    carcinoma, invasive, acantholytic, poorly differentiated; squamous cell carcinoma, invasive, acantholytic, well \
    differentiated; squamous cell carcinoma, invasive, adeno-squamous; squamous cell carcinoma, invasive, \
    adeno-squamous, moderately differentiated; squamous cell carcinoma, invasive, adeno-squamous, poorly \
    differentiated; squamous cell carcinoma, invasive, adeno-squamous, well differentiated; squamous cell carcinoma, \
    invasive, clear cell; squamous cell carcinoma, invasive, clear cell, moderately differentiated; squamous cell \
    carcinoma, invasive, clear cell, poorly differentiated; squamous cell carcinoma, invasive, clear cell, well \
    differentiated; squamous cell carcinoma, invasive, keratoacanthoma-type; squamous cell carcinoma, invasive, \
    keratoacanthoma-type, moderately differentiated; squamous cell carcinoma, invasive, keratoacanthoma-type, poorly \
    differentiated; squamous cell carcinoma, invasive, keratoacanthoma-type, well differentiated; squamous cell \
    carcinoma, invasive, nos, moderately differentiated; squamous cell carcinoma, invasive, nos, poorly \
    differentiated; squamous cell carcinoma, invasive, nos, well differentiated; squamous cell carcinoma, invasive, \
    sarcomatoid; squamous cell carcinoma, invasive, sarcomatoid, moderately differentiated; squamous cell carcinoma, \
    invasive, sarcomatoid, poorly differentiated; squamous cell carcinoma, invasive, sarcomatoid, well \
    differentiated; squamous cell carcinoma, invasive, spindle cell; squamous cell carcinoma, invasive, spindle \
    cell, moderately differentiated; squamous cell carcinoma, invasive, spindle cell, poorly differentiated; \
    squamous cell carcinoma, invasive, spindle cell, well differentiated; squamous cell carcinoma, invasive, \
    verrucous; squamous cell carcinoma, invasive, verrucous, moderately differentiated; squamous cell carcinoma, \
    invasive, verrucous, poorly differentiated; squamous cell carcinoma, invasive, verrucous, well differentiated; \
    squamous cell carcinoma, nos
    sccka scc: keratoacanthoma
    bkl: lichen planus like keratosis; lichenoid keratosis; pigmented benign keratosis; seborrheic keratosis; \
    seborrheic keratosis, clonal; solar lentigo
    df: dermatofibroma; dermatofibroma, aneurysmal; dermatofibroma, atypical; dermatofibroma, cellular; \
    dermatofibroma, epithelioid; dermatofibroma, hemosiderotic
    vasc: acquired elastotic hemangioma; acroangiodermatitis of mali; angiokeratoma; angiolymphoid hyperplasia with \
    eosinophilia; angioma; arterio-venous malformation; benign soft tissue proliferations - vascular; capillary \
    vascular malformation; dermal and subcutaneous hemorhage; glomangiomyoma; glomeruloid hemangioma; glomus tumor; \
    hemangioma; hemangioma, cherry; hemangioma, hobnail; hemangioma, infantile; hemangioma, tufted; hemorrhage; \
    hemorrhagic lesions; lymphangioma; lymphangioma, deep; lymphangioma, superficial; mucosal hemorrhage; nevus \
    anemicus; noninvoluting congenital hemangioma; other vascular or lymphatic malformation or hamartoma; pyogenic \
    granuloma; rapidly involuting congenital hemangioma; subcorneal and intracorneal hemorrhage; subungual \
    hemorrhage; telangiectasia; vascular lesion; vascular spider; venous lake; venous malformation; verrucous \
    hemangioma
    """

  private static let idsOfWord = Dictionary(
    uniqueKeysWithValues: table.split(separator: "\n").flatMap { line in
      let parts = line.split(separator: ":")
      let ids = parts[0].split(separator: " ").map { String($0) }
      return parts[1].split(separator: ";").map { (String($0).trimmed, ids) }
    })

  /// - Parameter word: in lower case.
  static func ids(ofWord word: String) -> [String] { idsOfWord[word] ?? [] }
}
