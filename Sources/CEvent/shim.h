#pragma once
#include <event2/event.h>
