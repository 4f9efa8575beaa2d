"""Writes the result of a DICOM image as a structured report (Comprehensive 3D SR, template TID 1500).

structured_report.py IMAGE.dcm REPORT.dcm [MODEL]

Needs the packages dermafusion and highdicom. The report refers to the image, carries its patient and study, and names
the model as the device that observed. The probability of each class is a measurement. The likeliest class and the risk
are codes, the summary and the disclaimer texts. Where the model abstains there is no likeliest class and no risk, and
the reasons stand in their place. The codes of classes are the model's own (coding scheme 99DERMAFUSION): a receiver
that knows SNOMED CT must map them.
"""

import sys

import highdicom as hd
import pydicom
from highdicom import sr
from pydicom.sr.codedict import codes

from dermafusion import Classifier

SCHEME = "99DERMAFUSION"


def code(value, meaning):
    """A concept of our own."""
    return sr.CodedConcept(value, SCHEME, meaning)


def evaluation(value, meaning, text):
    return sr.TextContentItem(code(value, meaning), text, sr.RelationshipTypeValues.CONTAINS)


def structured_report(image, result):
    """A pydicom data set.

    image: the data set that was classified, with its patient, study and series; result: what `Classifier.classify`
    gave.
    """
    model = result.model
    algorithm = sr.AlgorithmIdentification(
        name=model["name"], version=model["version"], parameters=[f"sha256={model['sha256']}"]
    )
    no_units = codes.UCUM.NoUnits
    probabilities = [
        sr.Measurement(code(label, label), float(probability), no_units, algorithm_id=algorithm)
        for label, probability in zip(result.classes, result.probabilities)
    ]
    answer = (
        [("likeliest", "Likeliest class", result.prediction), ("risk", "Risk", result.risk)]
        if not result.abstain
        else [("abstains", "Reason to abstain", reason) for reason in result.abstain_reasons]
    )
    evaluations = [sr.QualitativeEvaluation(code(key, name), code(text, text)) for key, name, text in answer]
    group = sr.MeasurementsAndQualitativeEvaluations(
        tracking_identifier=sr.TrackingIdentifier(hd.UID(), "lesion"),
        source_images=[sr.SourceImageForMeasurementGroup.from_source_image(image)],
        measurements=probabilities,
        qualitative_evaluations=evaluations,
    )
    observer = sr.ObserverContext(
        observer_type=codes.DCM.Device,
        observer_identifying_attributes=sr.DeviceObserverIdentifyingAttributes(
            uid=hd.UID(), name="dermafusion", model_name=f"{model['name']} {model['version']}"
        ),
    )
    report = sr.MeasurementReport(
        observation_context=sr.ObservationContext(observer_device_context=observer),
        procedure_reported=code("classification", "Classification of a dermoscopy image"),
        imaging_measurements=[group],
        title=codes.DCM.ImagingMeasurementReport,
    )
    report[0].ContentSequence.append(evaluation("summary", "Summary", result.summary))
    report[0].ContentSequence.append(evaluation("disclaimer", "Disclaimer", result.disclaimer))
    return sr.Comprehensive3DSR(
        evidence=[image],
        content=report,
        series_number=1,
        series_instance_uid=hd.UID(),
        sop_instance_uid=hd.UID(),
        instance_number=1,
        manufacturer="DermaFusion",
        is_complete=True,
        is_verified=False,
    )


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    path, output, *model = sys.argv[1:]
    result = Classifier(*model).classify(path)
    structured_report(pydicom.dcmread(path), result).save_as(output)
    print(result)


if __name__ == "__main__":
    main()
