"""Reads what `crease run` wrote with the packages `pyvista`, `vtk`, `numpy` and `xxhash`, and compares all of it.

    crease run KERNEL .. --fields u,.. --vtk DIR/vtk --npy DIR/npy --npz DIR/npz --png DIR/png --every K \
        --spacing 0.5,0.25 --origin 1,-2 --time-step 0.1 --checkpoint DIR/checkpoint
    python3 files/tests/read_back.py DIR

Image data must have the points, types and values of the arrays, the collection every step with its time; pictures must
be readable; the checkpoint must be what docs/FILES.md says, and hold the arrays of the last step.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

import numpy
import pyvista
import vtk
import xxhash
from vtk.util.numpy_support import vtk_to_numpy


def read_image(path):
    """An image and its reader's complaints, which VTK would only print."""
    complaints = []
    reader = vtk.vtkXMLImageDataReader()
    reader.AddObserver("ErrorEvent", lambda *_: complaints.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: complaints.append("warning"))
    assert reader.CanReadFile(str(path)), path
    reader.SetFileName(str(path))
    reader.Update()
    assert not complaints, (path, complaints)
    return reader.GetOutput()


def compare_step(directory, name, step, time):
    """Compares all files of one step; returns the names of its fields."""
    image = read_image(directory / "vtk" / f"{name}_{step:08}.vti")
    arrays = numpy.load(directory / "npz" / f"{name}_{step:08}.npz")
    assert arrays["step"] == step and arrays["time"] == time, (step, time)
    assert image.GetFieldData().GetArray("TimeValue").GetValue(0) == time
    points, extent = image.GetPointData(), image.GetExtent()
    shape = tuple(extent[2 * axis + 1] - extent[2 * axis] + 1 for axis in (2, 1, 0))
    fields = [points.GetArrayName(number) for number in range(points.GetNumberOfArrays())]
    assert points.GetScalars().GetName() == fields[0]
    for field in fields:
        cells = vtk_to_numpy(points.GetArray(field)).reshape(shape)
        array = numpy.load(directory / "npy" / f"{name}_{field}_{step:08}.npy")
        assert array.dtype == cells.dtype == arrays[field].dtype, field
        assert numpy.array_equal(array, arrays[field]), field
        assert numpy.array_equal(array.reshape(shape), cells, equal_nan=True), field
        # The place of the last point, as VTK computes it from origin, spacing and extent.
        last = image.GetPoint(image.GetNumberOfPoints() - 1)
        expected = (1 + 0.5 * extent[1], -2 + 0.25 * extent[3])
        assert last[:2] == expected, (last, expected)
        picture = vtk.vtkPNGReader()
        picture.SetFileName(str(directory / "png" / f"{name}_{field}_{step:08}.png"))
        picture.Update()
        width, height, _ = picture.GetOutput().GetDimensions()
        assert width % shape[2] == 0 and height % shape[1] == 0, (width, height, shape)
    return fields


def read_checkpoint(path):
    """Step and levels of a checkpoint, read by its specification alone."""
    file = path.read_bytes()

    def number(at):
        return int.from_bytes(file[at:at + 8], "little")

    def checksum(begin, end):
        return xxhash.xxh3_64_intdigest(file[begin:end])

    assert file[:16] == bytes.fromhex("89435253450d0a1a 0d0c0b0a 01000000")
    assert number(24) == len(file) and file[40:56] == bytes(16) and number(56) == checksum(0, 56)
    end = 64 + number(16)
    assert end % 64 == 0 and number(32) == checksum(64, end)
    header = json.loads(file[64:end])
    kinds = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "u8": "u1"}
    levels = {}
    for level in header["levels"]:
        begin, cells_end = level["offset"], level["offset"] + level["bytes"]
        assert begin == end and number(cells_end) == checksum(begin, cells_end), level
        end = (cells_end + 8 + 63) // 64 * 64
        assert not any(file[cells_end + 8:end])
        cells = numpy.frombuffer(file[begin:cells_end], kinds[level["element"]])
        levels[level["array"], level["back"]] = cells.reshape(level["shape"])
    assert end == len(file)
    return header["step"], levels


def compare_checkpoint(directory, name, fields, last):
    """Compares a checkpoint with the arrays of the last step."""
    step, levels = read_checkpoint(directory / "checkpoint")
    assert step == last, (step, last)
    for field in fields:
        array = numpy.load(directory / "npy" / f"{name}_{field}_{step:08}.npy")
        assert numpy.array_equal(levels[field, 0].astype(array.dtype), array), field


def main(directory):
    (collection,) = (directory / "vtk").glob("*.pvd")
    sets = xml.etree.ElementTree.parse(collection).getroot().findall("Collection/DataSet")
    files = {entry.get("file") for entry in sets}
    assert files == {path.name for path in (directory / "vtk").glob("*.vti")}, files
    for entry in sets:
        step = int(re.fullmatch(rf"{collection.stem}_(\d+)\.vti", entry.get("file")).group(1))
        fields = compare_step(directory, collection.stem, step, float(entry.get("timestep")))
    times = pyvista.PVDReader(str(collection)).time_values
    assert times == [float(entry.get("timestep")) for entry in sets], times
    compare_checkpoint(directory, collection.stem, fields, step)
    print(f"{collection.stem}: {len(sets)} steps of {', '.join(fields)} read by VTK {vtk.VTK_VERSION}")


main(pathlib.Path(sys.argv[1]))
