// Waits until the stores of a core are done.
#pragma once

inline void pipe_sync()
{
#if defined(__DAV_CUBE__)
    constexpr pipe_t store = PIPE_FIX;
#else
    constexpr pipe_t store = PIPE_MTE3;
#endif
    set_flag(store, PIPE_S, EVENT_ID7);
    wait_flag(store, PIPE_S, EVENT_ID7);
}
