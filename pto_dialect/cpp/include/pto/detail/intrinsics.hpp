// Functions below the operations of tiles: moves between memories, products, settings. A call has a group for each
// operand, pointers with their memory.
#pragma once
#include "pto/detail/issue.hpp"

namespace pto::pto_detail {
template <Word Space, class PtoT>
struct Address {
    PtoT *pointer;
    struct pto_object {
        static constexpr Text make()
        {
            using Element = std::remove_cv_t<PtoT>;
            return Text() << "ptr:" << (element<Element> ? element<Element> : "void") << ',' << Space.data;
        }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        return take(stored<pto_object>, pointer);
    }
};
} // namespace pto::pto_detail

#define PTO_ADDRESS(space, pointer) \
    pto::pto_detail::Address<space, std::remove_pointer_t<decltype(pointer)>> { pointer }

// PTO_MOVE_BETWEEN(function, memory of the target, memory of the source)
#define PTO_MOVE_BETWEEN(name, target, source)                                                       \
    template <class PtoD, class PtoS, class... PtoN>                                                 \
    PTO_INTERNAL void name(PtoD *dst, PtoS *src, PtoN... numbers)                                    \
    {                                                                                                \
        pto::pto_detail::call(#name, PTO_ADDRESS(target, dst), PTO_ADDRESS(source, src), numbers...); \
    }
#define PTO_FILL(name, target)                                             \
    template <class PtoD, class... PtoN>                                   \
    PTO_INTERNAL void name(PtoD *dst, PtoN... numbers)                     \
    {                                                                      \
        pto::pto_detail::call(#name, PTO_ADDRESS(target, dst), numbers...); \
    }
#define PTO_SETTING(name)                         \
    template <class... PtoN>                      \
    PTO_INTERNAL void name(PtoN... numbers)       \
    {                                             \
        pto::pto_detail::call(#name, numbers...); \
    }

PTO_MOVE_BETWEEN(copy_gm_to_ubuf, "ub", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_ubuf_align_b8, "ub", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_ubuf_align_b16, "ub", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_ubuf_align_b32, "ub", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_ubuf_align_v2, "ub", "gm")
PTO_MOVE_BETWEEN(copy_ubuf_to_gm, "gm", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_gm_align_b8, "gm", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_gm_align_b16, "gm", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_gm_align_b32, "gm", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_gm_align_v2, "gm", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_ubuf, "ub", "ub")
PTO_MOVE_BETWEEN(copy_ubuf_to_cbuf, "l1", "ub")
PTO_MOVE_BETWEEN(copy_gm_to_cbuf, "l1", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_cbuf_align_v2, "l1", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_cbuf_multi_nd2nz_b16, "l1", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_cbuf_multi_nd2nz_b32s, "l1", "gm")
PTO_MOVE_BETWEEN(copy_gm_to_cbuf_multi_nd2nz, "l1", "gm")
PTO_MOVE_BETWEEN(copy_cbuf_to_ubuf, "ub", "l1")
PTO_MOVE_BETWEEN(copy_cbuf_to_gm, "gm", "l1")
PTO_MOVE_BETWEEN(copy_cbuf_to_bt, "bt", "l1")
PTO_MOVE_BETWEEN(copy_cbuf_to_fbuf, "fb", "l1")
PTO_MOVE_BETWEEN(copy_matrix_cc_to_gm, "gm", "l0c")
PTO_MOVE_BETWEEN(copy_matrix_cc_to_ubuf, "ub", "l0c")
PTO_MOVE_BETWEEN(copy_matrix_cc_to_cbuf, "l1", "l0c")
PTO_MOVE_BETWEEN(load_cbuf_to_ca, "l0a", "l1")
PTO_MOVE_BETWEEN(load_cbuf_to_cb, "l0b", "l1")
PTO_MOVE_BETWEEN(load_cbuf_to_cb_transpose, "l0b", "l1")
PTO_MOVE_BETWEEN(load_gm_to_cbuf_2dv2, "l1", "gm")
PTO_FILL(create_cbuf_matrix, "l1")
PTO_FILL(create_cbuf_matrix_bf16, "l1")
PTO_MOVE_BETWEEN(vconv_f162s4r, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s4a, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s4c, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s4f, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s4z, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s4, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_s42f16, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162s8, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f162f32, "ub", "ub")
PTO_MOVE_BETWEEN(vconv_f322f16, "ub", "ub")
PTO_FILL(vector_dup, "ub")
PTO_SETTING(set_padding)
PTO_SETTING(set_nd_para)
PTO_SETTING(set_fpc)
PTO_SETTING(set_quant_pre)
PTO_SETTING(set_l1_boundary)
PTO_SETTING(set_fmatrix)
PTO_SETTING(set_fmatrix_b)
PTO_SETTING(set_l0_set_value_ui)
PTO_SETTING(set_l0_set_value_h)
PTO_SETTING(set_loop_size_outtoub)
PTO_SETTING(set_loop1_stride_outtoub)
PTO_SETTING(set_loop2_stride_outtoub)
PTO_SETTING(set_loop_size_ubtoout)
PTO_SETTING(set_loop1_stride_ubtoout)
PTO_SETTING(set_loop2_stride_ubtoout)
PTO_SETTING(set_mov_pad_val)
PTO_SETTING(set_mte2_nz_para)
PTO_SETTING(set_mte2_antiq_para)
PTO_SETTING(set_channel_para)
PTO_SETTING(set_loop3_para)
PTO_SETTING(set_rpt_offset)
PTO_SETTING(load_cbuf_to_ca_mx)
PTO_SETTING(load_cbuf_to_cb_mx)
// Global memory past the cache.
template <class PtoT>
PTO_INTERNAL PtoT ld_dev(PtoT *address, int16_t offset = 0)
{
    return *reinterpret_cast<volatile PtoT *>(reinterpret_cast<char *>(address) + offset);
}
template <class PtoT>
PTO_INTERNAL void st_dev(std::type_identity_t<PtoT> value, PtoT *address, int16_t offset = 0)
{
    *reinterpret_cast<volatile PtoT *>(reinterpret_cast<char *>(address) + offset) = value;
}
// The cache of instructions is always filled.
template <class... PtoN>
PTO_INTERNAL void preload(PtoN...)
{
}
PTO_INTERNAL int64_t get_icache_prl_st() { return 0; }

#define PTO_PRODUCT(name)                                                                           \
    template <class PtoC, class PtoA, class PtoB, class... PtoN>                                    \
    PTO_INTERNAL void name(PtoC *acc, PtoA *left, PtoB *right, PtoN... numbers)                     \
    {                                                                                               \
        pto::pto_detail::call(#name, PTO_ADDRESS("l0c", acc), PTO_ADDRESS("l0a", left),             \
                              PTO_ADDRESS("l0b", right), numbers...);                               \
    }
PTO_PRODUCT(mad)
PTO_PRODUCT(mad_mx)
