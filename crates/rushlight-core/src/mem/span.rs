//! Windows on memory that a plan has locked and checked. They end with the plan.

use super::bounds;
use super::element;
use super::plan::Place;
use super::storage::Storage;
use crate::layout::Layout;
use crate::{DType, Element, Error, Number, Result};
use smallvec::SmallVec;

/// What both kinds of span are.
#[derive(Clone, Copy)]
struct Window<'a> {
    /// First byte of the storage; null when the host cannot address it.
    base: *mut u8,
    /// Bytes the storage has.
    len: usize,
    storage: &'a Storage,
    layout: &'a Layout,
    dtype: DType,
}

/// An operand that is read. Another operand of the same plan may write the same memory.
///
/// Element positions are counted from the layout's offset, as strides count them. Spans stay on
/// the thread of their plan:
///
/// ```compile_fail
/// fn only_send<T: Send>() {}
/// only_send::<rushlight_core::mem::Span<'static>>();
/// ```
#[derive(Clone, Copy)]
pub struct Span<'a>(Window<'a>);

/// An operand that is written, and may be read. Copies of it are the same memory.
#[derive(Clone, Copy)]
pub struct SpanMut<'a>(Window<'a>);

impl<'a> Window<'a> {
    /// The caller holds a lock of the storage for at least `'a`, and checks [`Window::fits`].
    #[inline(always)]
    fn new(storage: &'a Storage, layout: &'a Layout, dtype: DType) -> Self {
        let (base, len) = storage.0.bytes();
        Window { base, len, storage, layout, dtype }
    }

    #[inline(always)]
    fn fits(&self) -> bool {
        bounds::fits(self.layout, self.dtype, self.len)
    }

    #[cold]
    fn error(&self, op: &'static str) -> Error {
        bounds::error(op, self.layout, self.dtype, self.len)
    }

    #[inline]
    fn ptr(&self) -> *mut u8 {
        if self.base.is_null() {
            return self.base;
        }
        // Wrapping: the offset of an empty layout may lie anywhere, and is never followed.
        self.base.wrapping_add(self.layout.offset().wrapping_mul(self.dtype.size()))
    }

    /// The address of an element.
    ///
    /// # Panics
    /// When the element lies outside the storage or the storage is out of the host's reach: only a
    /// kernel with a wrong index does that.
    #[inline]
    fn at<T: Element>(&self, index: isize) -> *mut u8 {
        assert!(T::DTYPE == self.dtype, "element type {} in a span of {}", T::DTYPE, self.dtype);
        let start =
            self.layout.offset().checked_add_signed(index).and_then(|i| i.checked_mul(size_of::<T>()));
        let end = start.and_then(|start| start.checked_add(size_of::<T>()));
        match (start, end) {
            (Some(start), Some(end)) if end <= self.len && !self.base.is_null() => {
                self.base.wrapping_add(start)
            }
            _ => panic!(
                "element {index} from offset {} is outside a storage of {} bytes on {}",
                self.layout.offset(),
                self.len,
                self.storage.device()
            ),
        }
    }

    #[inline]
    fn get<T: Element>(&self, index: isize) -> T {
        let at = self.at::<T>(index);
        if T::DTYPE == DType::Bool {
            // SAFETY: `at` checked that this byte lies in the storage, which the plan has locked.
            let byte = u8::from(unsafe { at.read() } != 0);
            // SAFETY: T is bool, of one byte, for which 0 and 1 are the valid patterns.
            return unsafe { (&raw const byte).cast::<T>().read() };
        }
        // SAFETY: `at` checked that the bytes lie in the storage and that T is their type, of which
        // every pattern is valid; the plan has locked them, so no other thread writes them. The
        // read needs no alignment.
        unsafe { at.cast::<T>().read_unaligned() }
    }

    #[inline]
    fn set<T: Element>(&self, index: isize, value: T) {
        let at = self.at::<T>(index);
        // SAFETY: as in `get`; the storage is locked for writing and not read-only, because only a
        // `SpanMut` calls this, and no reference to the bytes exists, as spans only copy values.
        unsafe { at.cast::<T>().write_unaligned(value) };
    }

    fn reopen<'b>(&self, layout: &'b Layout, dtype: DType) -> Result<Window<'b>>
    where
        'a: 'b,
    {
        let window = Window::new(self.storage, layout, dtype);
        if window.fits() { Ok(window) } else { Err(window.error("view")) }
    }
}

macro_rules! common {
    ($span:ident, $ptr:ty) => {
        impl std::fmt::Debug for $span<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (layout, len) = (self.0.layout, self.0.len);
                write!(f, "{}({}, {layout:?}, in {len} bytes)", stringify!($span), self.0.dtype)
            }
        }

        impl<'a> $span<'a> {
            /// Appends the span of each place, if all stay inside their storages. The caller
            /// holds the locks they need for at least `'a`.
            #[inline]
            pub(super) fn open<const N: usize>(
                op: &'static str,
                places: &[Place<'a>],
                spans: &mut SmallVec<[$span<'a>; N]>,
            ) -> Result<()> {
                for place in places {
                    let span = $span::of(place);
                    span.check(op)?;
                    spans.push(span);
                }
                Ok(())
            }

            /// The span of one place, to be handed out after [`Self::check`]. The caller holds the lock
            /// it needs for at least `'a`.
            // Apart from the check, as a span inside a result is copied in pieces that stall.
            #[inline(always)]
            pub(super) fn of(place: &Place<'a>) -> $span<'a> {
                $span(Window::new(place.storage, place.layout, place.dtype))
            }

            /// Whether it stays inside its storage.
            #[inline(always)]
            pub(super) fn check(&self, op: &'static str) -> Result<()> {
                if self.0.fits() { Ok(()) } else { Err(self.0.error(op)) }
            }

            /// The type of its elements.
            #[inline]
            pub fn dtype(&self) -> DType {
                self.0.dtype
            }

            /// Where its elements are.
            #[inline]
            pub fn layout(&self) -> &'a Layout {
                self.0.layout
            }

            /// How many elements it has.
            #[inline]
            pub fn numel(&self) -> usize {
                self.0.layout.numel()
            }

            /// The storage they are in.
            #[inline]
            pub fn storage(&self) -> &'a Storage {
                self.0.storage
            }

            /// The address of element (0, 0, ..); null when the host cannot address the storage or
            /// it has no bytes. Every element the layout reaches is inside the storage.
            #[inline]
            pub fn ptr(&self) -> $ptr {
                self.0.ptr()
            }

            /// Whether the elements are aligned as their Rust type wants; foreign memory may not be.
            #[inline]
            pub fn is_aligned(&self) -> bool {
                let align = with_dtype!(self.0.dtype, |T| align_of::<T>());
                self.0.ptr().addr().is_multiple_of(align)
            }

            /// The same storage through another layout.
            ///
            /// # Errors
            /// `Runtime` when the layout reaches outside the storage.
            pub fn with_layout<'b>(&self, layout: &'b Layout) -> Result<$span<'b>>
            where
                'a: 'b,
            {
                self.0.reopen(layout, self.0.dtype).map($span)
            }

            /// The same storage through another layout and as another dtype, as complex numbers
            /// are pairs of floats; offset and strides count elements of the new dtype.
            ///
            /// # Errors
            /// `Runtime` when the layout reaches outside the storage.
            pub fn reinterpret<'b>(&self, layout: &'b Layout, dtype: DType) -> Result<$span<'b>>
            where
                'a: 'b,
            {
                self.0.reopen(layout, dtype).map($span)
            }

            /// The element `index` steps from element (0, 0, ..). A bool is true unless its byte is 0.
            ///
            /// # Panics
            /// When it lies outside the storage.
            #[inline]
            pub fn load(&self, index: isize) -> Number {
                with_dtype!(self.0.dtype, |T| self.0.get::<T>(index).number())
            }

            /// The same as its Rust type.
            ///
            /// # Panics
            /// When it lies outside the storage or `T` is not the dtype's type.
            #[inline]
            pub fn get<T: Element>(&self, index: isize) -> T {
                self.0.get(index)
            }
        }
    };
}

common!(Span, *const u8);
common!(SpanMut, *mut u8);

impl<'a> SpanMut<'a> {
    /// The same memory, to be read.
    #[inline]
    pub fn read(&self) -> Span<'a> {
        Span(self.0)
    }

    /// Stores a number `index` steps from element (0, 0, ..), converted as [`Number::cast`] does.
    ///
    /// # Panics
    /// When it lies outside the storage.
    #[inline]
    pub fn store(&self, index: isize, value: Number) {
        element::store(self, index, value.cast(self.0.dtype));
    }

    /// Stores a value of the dtype's Rust type there.
    ///
    /// # Panics
    /// When it lies outside the storage or `T` is not the dtype's type.
    #[inline]
    pub fn set<T: Element>(&self, index: isize, value: T) {
        self.0.set(index, value);
    }
}
