// Marks for the loader of a device, which has nothing to load here.
#pragma once
#define PTO_SYNCALL_AIV_KERNEL_META(...)
#define PTO_SYNCALL_MIX_AIC_KERNEL_META(...)
#define PTO_SYNCALL_MIX_AIV_KERNEL_META(...)
#define PTO_SYNCALL_AIC_KERNEL_META(...)
