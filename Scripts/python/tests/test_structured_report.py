"""structured_report.py on a DICOM image. Needs highdicom: `Scripts/checks/python --quick` leaves it out."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pydicom = pytest.importorskip("pydicom")
pytest.importorskip("highdicom")

from conftest import ROOT  # noqa: E402

from dermafusion import Classifier  # noqa: E402

SCRIPT = Path(__file__).parents[1] / "structured_report.py"


# The model answers the first and abstains from the second.
@pytest.fixture(params=["phantom_brown.jpg", "small"])
def image(request, tmp_path):
    """A photograph as a device would send it: with a patient, a study and a series."""
    fixture = ROOT / "ParityFixtures" / "formats" / "dicom_patient.dcm"
    data = pydicom.dcmread(fixture)
    data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID
    data.StudyInstanceUID, data.SeriesInstanceUID = pydicom.uid.generate_uid(), pydicom.uid.generate_uid()
    data.PatientName, data.PatientID, data.PatientBirthDate = "Doe^Jane", "77", "19800101"
    data.StudyID, data.StudyDate, data.StudyTime, data.AccessionNumber = "1", "20260101", "120000", ""
    data.ReferringPhysicianName, data.Modality, data.SeriesNumber, data.InstanceNumber = "", "XC", 1, 1
    if request.param != "small":
        pixels = np.asarray(Image.open(ROOT / "ParityFixtures" / "images" / request.param).convert("RGB"))
        data.Rows, data.Columns = pixels.shape[:2]
        data.PixelData = pixels.tobytes()
    path = tmp_path / "lesion.dcm"
    data.save_as(path)
    return path


def items(data):
    """Every content item below a data set."""
    for item in data.get("ContentSequence", []):
        yield item
        yield from items(item)


def test_the_report_says_what_the_result_says(image, tmp_path, request):
    report = tmp_path / "report.dcm"
    subprocess.run([sys.executable, SCRIPT, image, report], check=True)
    result = Classifier().classify(image)
    data = pydicom.dcmread(report)
    assert data.SOPClassUID.name == "Comprehensive 3D SR Storage"
    assert (data.PatientID, data.StudyInstanceUID) == ("77", pydicom.dcmread(image).StudyInstanceUID)

    content = list(items(data))
    measured = {
        item.ConceptNameCodeSequence[0].CodeMeaning: float(item.MeasuredValueSequence[0].NumericValue)
        for item in content
        if item.ValueType == "NUM"
    }
    expected = {name: float(value) for name, value in zip(result.classes, result.probabilities)}
    assert measured == pytest.approx(expected, abs=1e-6)
    texts = {
        (item.ConceptNameCodeSequence[0].CodeMeaning, item.TextValue) for item in content if item.ValueType == "TEXT"
    }
    assert {("Summary", result.summary), ("Disclaimer", result.disclaimer)} <= texts
    assert ("Algorithm Parameters", f"sha256={result.model['sha256']}") in texts
    codes = [
        (item.ConceptNameCodeSequence[0].CodeMeaning, item.ConceptCodeSequence[0].CodeMeaning)
        for item in content
        if item.ValueType == "CODE"
    ]
    assert result.abstain == ("phantom" not in request.node.name)
    expected = (
        [("Reason to abstain", reason) for reason in result.abstain_reasons]
        if result.abstain
        else [("Likeliest class", result.prediction), ("Risk", result.risk)]
    )
    assert [pair for pair in codes if pair[0] in ("Reason to abstain", "Likeliest class", "Risk")] == expected
