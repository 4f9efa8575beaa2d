// Why this module exists: PNG files are read by libpng, whose errors are longjmps that must not cross Swift frames.
#pragma once
#include <png.h>
