// Tiles in local memories, tensors in global memory.
#pragma once
#include "pto/detail/issue.hpp"
#include "pto/common/utils.hpp"
#include "pto/detail/sizes.hpp"

namespace pto {

template <class PtoT>
using remove_gm_t = std::remove_cv_t<PtoT>;

template <class Element_, class Shape_, class Stride_, Layout Layout_ = Layout::ND>
struct GlobalTensor {
    using Shape = Shape_;
    using Stride = Stride_;
    using RawDType = Element_;
    using DType = Element_;
    static constexpr Layout layout = Layout_;
    static constexpr const int64_t (&staticShape)[5] = Shape_::staticShape;
    static constexpr const int64_t (&staticStride)[5] = Stride_::staticStride;

    PTO_INTERNAL GlobalTensor() : data_(nullptr) {}
    PTO_INTERNAL GlobalTensor(DType *data, const Shape_ &shape = Shape_(), const Stride_ &stride = Stride_())
        : data_(data), shape_(shape), stride_(stride)
    {
    }

    PTO_INTERNAL DType *data() const { return data_; }
    PTO_INTERNAL void SetAddr(DType *data) { data_ = data; }
    PTO_INTERNAL DType GetElement(size_t offset) const { return data_[offset]; }
    PTO_INTERNAL void SetElement(size_t offset, DType value) { data_[offset] = value; }
    PTO_INTERNAL int64_t GetShape(int dim) const { return shape_.shape[dim]; }
    PTO_INTERNAL int64_t GetStride(int dim) const { return stride_.stride[dim]; }
    PTO_INTERNAL const Shape_ &pto_shape() const { return shape_; }
    PTO_INTERNAL const Stride_ &pto_stride() const { return stride_; }
    template <int Dim>
    PTO_INTERNAL static constexpr int64_t GetShape()
    {
        static_assert(staticShape[Dim] != DYNAMIC, "this size is dynamic: use GetShape(dim)");
        return staticShape[Dim];
    }
    template <int Dim>
    PTO_INTERNAL static constexpr int64_t GetStride()
    {
        static_assert(staticStride[Dim] != DYNAMIC, "this stride is dynamic: use GetStride(dim)");
        return staticStride[Dim];
    }
    template <int... Dim, class... Size>
    PTO_INTERNAL void SetShape(Size... size)
    {
        static_assert(((staticShape[Dim] == DYNAMIC) && ...), "only dynamic (-1) sizes can be set");
        ((shape_.shape[Dim] = size), ...);
    }
    template <int... Dim, class... Size>
    PTO_INTERNAL void SetStride(Size... size)
    {
        static_assert(((staticStride[Dim] == DYNAMIC) && ...), "only dynamic (-1) strides can be set");
        ((stride_.stride[Dim] = size), ...);
    }

    struct pto_object {
        static constexpr pto_detail::Text make()
        {
            pto_detail::Text text;
            text << "global:" << pto_detail::element<std::remove_cv_t<Element_>> << ',' << pto_spelling(Layout_);
            for (int dim = 0; dim < 5; ++dim)
                text << (dim ? 'x' : ',') << static_cast<long long>(staticShape[dim]);
            for (int dim = 0; dim < 5; ++dim)
                text << ',' << static_cast<long long>(staticStride[dim]);
            return text;
        }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        const int64_t(&n)[5] = shape_.shape;
        const int64_t(&t)[5] = stride_.stride;
        return take(pto_detail::stored<pto_object>, data_, n[0], n[1], n[2], n[3], n[4], t[0], t[1], t[2], t[3], t[4]);
    }

private:
    DType *data_;
    Shape_ shape_;
    Stride_ stride_;
};

// Where an element of a tile is, counted in elements.
template <class PtoT>
PTO_INTERNAL constexpr size_t GetTileOffset(int row, int col)
{
    if constexpr (!PtoT::isBoxedLayout)
        return row * PtoT::RowStride + col * PtoT::ColStride;
    else {
        const int box_row = row / PtoT::InnerRows, box_col = col / PtoT::InnerCols;
        const int in_row = row % PtoT::InnerRows, in_col = col % PtoT::InnerCols;
        const int box = PtoT::isRowMajor ? box_row * (PtoT::Cols / PtoT::InnerCols) + box_col
                                      : box_col * (PtoT::Rows / PtoT::InnerRows) + box_row;
        return box * PtoT::InnerNumel + (PtoT::isInnerRowMajor ? in_row * PtoT::InnerCols + in_col : in_col * PtoT::InnerRows + in_row);
    }
}

template <TileType Loc_, class Element_, int Rows_, int Cols_, BLayout BFractal_ = BLayout::RowMajor,
          int RowValid_ = Rows_, int ColValid_ = Cols_, SLayout SFractal_ = SLayout::NoneBox,
          int SFractalSize_ = TileConfig::fractalABSize, auto PadVal_ = PadValue::Null,
          CompactMode Compact_ = CompactMode::Null>
struct Tile {
    using DType = Element_;
    using TileDType = DType *;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_, Cols = Cols_, Numel = Rows_ * Cols_;
    static constexpr int ValidRow = RowValid_, ValidCol = ColValid_;
    static constexpr BLayout BFractal = BFractal_;
    static constexpr SLayout SFractal = SFractal_;
    static constexpr int SFractalSize = SFractalSize_;
    static constexpr auto PadVal = PadVal_;
    static constexpr CompactMode Compact = Compact_;
    static constexpr bool isRowMajor = BFractal_ == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = SFractal_ != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = SFractal_ == SLayout::RowMajor;
    static constexpr bool isInnerColMajor = SFractal_ == SLayout::ColMajor;
    static constexpr int RowStride = isRowMajor ? Cols_ : 1, ColStride = isRowMajor ? 1 : Rows_;

    static constexpr int getInnerRow()
    {
        if (SFractalSize_ == TileConfig::fractalCSize)
            return 16;
        if (SFractalSize_ == TileConfig::fractalMxSize)
            return isInnerRowMajor ? 16 : 2;
        return !isBoxedLayout ? 1 : isInnerRowMajor ? 16 : 32 / sizeof(DType);
    }
    static constexpr int getInnerCol()
    {
        if (SFractalSize_ == TileConfig::fractalCSize)
            return 16;
        if (SFractalSize_ == TileConfig::fractalMxSize)
            return isInnerRowMajor ? 2 : 16;
        return !isBoxedLayout ? 1 : isInnerRowMajor ? 32 / sizeof(DType) : 16;
    }
    static constexpr int InnerRows = getInnerRow(), InnerCols = getInnerCol(), InnerNumel = InnerRows * InnerCols;

    static_assert(Rows_ > 0 && Cols_ > 0, "a tile has at least one row and one column");
    static_assert(RowValid_ <= Rows_ && ColValid_ <= Cols_, "the valid part of a tile is larger than the tile");
    static_assert(Cols_ % InnerCols == 0, "the columns of a boxed tile must be a multiple of its box's columns");
    static_assert(isBoxedLayout || (isRowMajor ? Cols_ : Rows_) * sizeof(DType) % 32 == 0,
                  "a line of a tile (a row of RowMajor, a column of ColMajor) must be a multiple of 32 bytes");

    PTO_INTERNAL Tile() { pto_begin(); }
    template <class PtoR, class PtoC>
        requires(RowValid_ == DYNAMIC && ColValid_ == DYNAMIC && pto_detail::Sizes<PtoR, PtoC>)
    PTO_INTERNAL Tile(PtoR rows, PtoC cols) : RowMaskInternal(rows), ColMaskInternal(cols)
    {
        pto_begin();
    }
    template <class PtoN>
        requires((RowValid_ == DYNAMIC) != (ColValid_ == DYNAMIC) && pto_detail::Sizes<PtoN>)
    PTO_INTERNAL Tile(PtoN size)
    {
        if constexpr (RowValid_ == DYNAMIC)
            RowMaskInternal = size;
        else
            ColMaskInternal = size;
        pto_begin();
    }

    PTO_INTERNAL TileDType &data() { return reinterpret_cast<TileDType &>(pto_address); }
    PTO_INTERNAL const TileDType &data() const { return reinterpret_cast<const TileDType &>(pto_address); }
    PTO_INTERNAL constexpr unsigned GetValidRow() const
    {
        if constexpr (RowValid_ == DYNAMIC)
            return RowMaskInternal;
        return RowValid_;
    }
    PTO_INTERNAL constexpr unsigned GetValidCol() const
    {
        if constexpr (ColValid_ == DYNAMIC)
            return ColMaskInternal;
        return ColValid_;
    }
    PTO_INTERNAL void SetValidRow(unsigned rows)
    {
        static_assert(RowValid_ == DYNAMIC, "only a dynamic (-1) valid row count can be set");
        RowMaskInternal = rows;
    }
    PTO_INTERNAL void SetValidCol(unsigned cols)
    {
        static_assert(ColValid_ == DYNAMIC, "only a dynamic (-1) valid column count can be set");
        ColMaskInternal = cols;
    }
    PTO_INTERNAL void SetValidShape(unsigned rows, unsigned cols)
    {
        SetValidRow(rows);
        SetValidCol(cols);
    }

    PTO_INTERNAL DType GetValue(uint32_t offset) const { return pto_detail::query<DType>("GetValue", *this, offset); }
    static constexpr size_t GetSizeInBytes() { return Numel * sizeof(DType) / (IsTwinType<DType>() ? 2 : 1); }
    PTO_INTERNAL DType GetElement(int row, int col) const { return GetValue(GetTileOffset<Tile>(row, col)); }
    PTO_INTERNAL void SetElement(int row, int col, DType value) { SetValue(GetTileOffset<Tile>(row, col), value); }
    PTO_INTERNAL void SetKAligned(bool on) { pto_detail::call("SetKAligned", *this, on); }
    PTO_INTERNAL void SetMadTF32Mode(RoundMode mode = RoundMode::CAST_ROUND) { pto_detail::call("SetMadTF32Mode", mode); }
    PTO_INTERNAL void ResetMadMode() { pto_detail::call("ResetMadMode"); }
    PTO_INTERNAL void SetValue(uint32_t offset, DType value) { pto_detail::issue("SetValue", *this, offset, value); }

    struct pto_object {
        static constexpr pto_detail::Text make()
        {
            pto_detail::Text text;
            text << "tile:" << pto_spelling(Loc_) << ',' << pto_detail::element<Element_> << ',' << Rows_ << 'x' << Cols_ << ',';
            text << pto_spelling(BFractal_) << ',' << RowValid_ << 'x' << ColValid_ << ',' << pto_spelling(SFractal_) << ',';
            text << SFractalSize_ << ',' << pto_spelling(static_cast<PadValue>(PadVal_)) << ',' << pto_spelling(Compact_);
            return text;
        }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        return take(pto_detail::stored<pto_object>, pto_address, static_cast<int>(GetValidRow()), static_cast<int>(GetValidCol()));
    }

    // Where no tile has an address of its own, each is known by its declaration.
    PTO_INTERNAL void pto_begin()
    {
#if defined(__PTO_UNPLACED__) || defined(__PTO_AUTO__)
        pto_address = pto_detail::alias("Tile", *this);
#endif
    }

    int64_t pto_address = -1;
    unsigned RowMaskInternal = -1;
    unsigned ColMaskInternal = -1;
};

template <int... Sizes>
struct ConvTileShape {
    static constexpr int totalDimCount = sizeof...(Sizes);
    static constexpr int dynamicDimCount = pto_detail::unknown<Sizes...>;
    static constexpr int64_t staticShape[6] = {Sizes...};
    static constexpr int64_t numel = (int64_t{Sizes} * ... * 1);
};

// A tile of a convolution: a buffer of a number of bytes in a layout, with up to six sizes and how it is moved over.
template <TileType Loc_, class Element_, int BufferSize_, Layout Layout_, class Shape_>
struct ConvTile {
    using DType = Element_;
    using ShapeType = Shape_;
    using TileDType = DType *;
    static constexpr TileType Loc = Loc_;
    static constexpr int bufferSize = BufferSize_;
    static constexpr Layout layout = Layout_;
    static constexpr int totalDimCount = Shape_::totalDimCount, dynamicDimCount = Shape_::dynamicDimCount;
    static constexpr const int64_t (&staticShape)[6] = Shape_::staticShape;
    static constexpr int64_t numel = Shape_::numel;

    PTO_INTERNAL ConvTile() {}
    template <class... Size>
        requires(sizeof...(Size) > 0 && pto_detail::Sizes<Size...>)
    PTO_INTERNAL explicit ConvTile(Size... size)
    {
        SetDynamicShape(size...);
    }
    template <class... Size>
    PTO_INTERNAL void SetDynamicShape(Size... size)
    {
        static_assert(sizeof...(Size) == dynamicDimCount, "a ConvTile takes as many sizes as its shape has dynamic ones");
        const int64_t given[] = {static_cast<int64_t>(size)...};
        int next = 0;
#define PTO_SIZE(index)                                  \
    if constexpr (Shape_::staticShape[index] == DYNAMIC) \
        shape[index] = given[next++];
        PTO_SIZE(0) PTO_SIZE(1) PTO_SIZE(2) PTO_SIZE(3) PTO_SIZE(4) PTO_SIZE(5)
#undef PTO_SIZE
    }
    PTO_INTERNAL int64_t GetShape(int dim) const { return shape[dim]; }
    PTO_INTERNAL TileDType &data() { return reinterpret_cast<TileDType &>(pto_address); }
    PTO_INTERNAL const TileDType &data() const { return reinterpret_cast<const TileDType &>(pto_address); }
    PTO_INTERNAL uint8_t GetPadList(uint8_t index) const { return pad[index]; }
    PTO_INTERNAL void SetPadList(uint8_t index, uint8_t value) { pad[index] = value; }
    PTO_INTERNAL const uint8_t *GetPadListArray() const { return pad; }
    PTO_INTERNAL void SetPadListArray(const uint8_t (&values)[4])
    {
        pad[0] = values[0];
        pad[1] = values[1];
        pad[2] = values[2];
        pad[3] = values[3];
    }

// What is set one by one, in the order in which a group has it.
#define PTO_CONV_FIELDS(X)                                                                                            \
    X(uint16_t, FmapH, 0) X(uint16_t, FmapW, 0) X(uint16_t, FilterH, 1) X(uint16_t, FilterW, 1) X(uint8_t, StrideH, 1) \
    X(uint8_t, StrideW, 1) X(uint8_t, DilationH, 1) X(uint8_t, DilationW, 1) X(uint16_t, ChannelSize, 0)              \
    X(uint16_t, RepeatStride, 0) X(uint8_t, RepeatTime, 1) X(uint8_t, RepeatMode, 0) X(bool, Transpose, false)        \
    X(uint16_t, DstStride, 0) X(uint16_t, DstMposition, 0)
#define PTO_CONV_FIELD(Type, Name, first)                       \
    PTO_INTERNAL Type Get##Name() const { return Name##_; }     \
    PTO_INTERNAL void Set##Name(Type value) { Name##_ = value; } \
    Type Name##_ = first;
    PTO_CONV_FIELDS(PTO_CONV_FIELD)
    PTO_INTERNAL DType GetPadValue() const { return padValue; }
    PTO_INTERNAL void SetPadValue(DType value) { padValue = value; }

    struct pto_object {
        static constexpr pto_detail::Text make()
        {
            pto_detail::Text text;
            text << "conv:" << pto_spelling(Loc_) << ',' << pto_detail::element<Element_> << ',' << BufferSize_ << ',';
            text << pto_spelling(Layout_);
            for (int dim = 0; dim < totalDimCount; ++dim)
                text << (dim ? 'x' : ',') << Shape_::staticShape[dim];
            return text;
        }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
#define PTO_CONV_VALUE(Type, Name, first) , static_cast<int>(Name##_)
        return take(pto_detail::stored<pto_object>, pto_address, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5],
                    static_cast<int>(pad[0]), static_cast<int>(pad[1]), static_cast<int>(pad[2]),
                    static_cast<int>(pad[3]), padValue PTO_CONV_FIELDS(PTO_CONV_VALUE));
    }

    int64_t pto_address = -1;
    int64_t shape[6] = {Shape_::staticShape[0], Shape_::staticShape[1], Shape_::staticShape[2],
                        Shape_::staticShape[3], Shape_::staticShape[4], Shape_::staticShape[5]};
    uint8_t pad[4] = {0, 0, 0, 0};
    DType padValue = DType();
};

#define PTO_TILE_FORM(Name, ...)                                                                    \
    template <class Element, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>          \
    using Name = __VA_ARGS__;
#if defined(PTO_NPU_ARCH_A2A3)
#define PTO_LEFT_LAYOUT BLayout::RowMajor
#else
#define PTO_LEFT_LAYOUT BLayout::ColMajor
#endif
#define PTO_TILE_FORMS(Name, Loc, Outer, Inner, Size)                                               \
    PTO_TILE_FORM(Name, Tile<TileType::Loc, Element, Rows, Cols, Outer, RowValid, ColValid,         \
                             SLayout::Inner, Size>)                                                 \
    PTO_TILE_FORM(Name##Compact, Tile<TileType::Loc, Element, Rows, Cols, Outer, RowValid,          \
                                      ColValid, SLayout::Inner, Size, PadValue::Null, CompactMode::Normal>)
PTO_TILE_FORMS(TileLeft, Left, PTO_LEFT_LAYOUT, RowMajor, 512)
PTO_TILE_FORMS(TileRight, Right, BLayout::RowMajor, ColMajor, 512)
PTO_TILE_FORMS(TileAcc, Acc, BLayout::ColMajor, RowMajor, 1024)
PTO_TILE_FORMS(TileLeftScale, ScaleLeft, BLayout::RowMajor, RowMajor, 32)
PTO_TILE_FORMS(TileRightScale, ScaleRight, BLayout::ColMajor, ColMajor, 32)

template <class PtoT>
inline constexpr bool is_global_data_v = false;
template <class PtoE, class PtoS, class PtoR, Layout PtoL>
inline constexpr bool is_global_data_v<GlobalTensor<PtoE, PtoS, PtoR, PtoL>> = true;
template <class PtoT>
inline constexpr bool is_tile_data_v = false;
template <TileType PtoK, class PtoE, int PtoR, int PtoC, BLayout PtoB, int VR, int VC, SLayout PtoS, int PtoF, auto PtoP, CompactMode PtoM>
inline constexpr bool is_tile_data_v<Tile<PtoK, PtoE, PtoR, PtoC, PtoB, VR, VC, PtoS, PtoF, PtoP, PtoM>> = true;

template <class PtoT>
inline constexpr bool is_conv_tile_v = false;
template <TileType PtoK, class PtoE, int PtoN, Layout PtoL, class PtoS>
inline constexpr bool is_conv_tile_v<ConvTile<PtoK, PtoE, PtoN, PtoL, PtoS>> = true;
template <class PtoT>
struct is_global : std::bool_constant<is_global_data_v<PtoT>> {};
template <class PtoT>
struct is_tile : std::bool_constant<is_tile_data_v<PtoT>> {};
template <class PtoT>
inline constexpr bool is_boxed_data_v = false;
template <class PtoT>
    requires is_tile_data_v<PtoT>
inline constexpr bool is_boxed_data_v<PtoT> = PtoT::isBoxedLayout;
template <class PtoT>
struct is_Nz_layout : std::bool_constant<!PtoT::isRowMajor && PtoT::isBoxedLayout && PtoT::isInnerRowMajor> {};
template <class PtoT>
struct is_Zn_layout : std::bool_constant<PtoT::isRowMajor && PtoT::isBoxedLayout && PtoT::isInnerColMajor> {};
template <class PtoT>
struct is_Zz_layout : std::bool_constant<PtoT::isRowMajor && PtoT::isBoxedLayout && PtoT::isInnerRowMajor> {};

template <class PtoT>
concept TileObject = is_tile_data_v<std::remove_cv_t<PtoT>>;
template <class PtoT>
concept ConvObject = is_conv_tile_v<std::remove_cv_t<PtoT>>;
template <class PtoT>
concept LocalObject = TileObject<PtoT> || ConvObject<PtoT>;
template <class PtoT>
concept GlobalObject = is_global_data_v<std::remove_cv_t<PtoT>>;

} // namespace pto
