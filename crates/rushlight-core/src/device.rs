//! Names of devices. What a device can do is its backend's business ([`crate::backend`]).

use std::fmt;

/// A kind of device. Each kind has one backend, found in the registry by this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DeviceKind {
    /// Host memory, fast kernels.
    Cpu,
    /// No memory at all: shapes, strides and dtypes only.
    Meta,
    /// Host memory, slow kernels that define what is right.
    Ref,
    /// An NVIDIA GPU.
    Cuda,
    /// Apple's Metal.
    Mps,
    /// Any GPU with Vulkan, or DX12 where that is the system's name for it.
    Vulkan,
}

impl DeviceKind {
    /// All kinds, in declaration order.
    pub const ALL: [DeviceKind; 6] = [Self::Cpu, Self::Meta, Self::Ref, Self::Cuda, Self::Mps, Self::Vulkan];

    /// torch's name of the kind (`ref` is ours).
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Meta => "meta",
            Self::Ref => "ref",
            Self::Cuda => "cuda",
            Self::Mps => "mps",
            Self::Vulkan => "vulkan",
        }
    }
}

/// Where a storage lives: a kind and a number, as in `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// The kind.
    pub kind: DeviceKind,
    /// Which one of that kind; 0 where there is only one.
    pub index: u8,
}

impl Device {
    /// Host memory with fast kernels: the default.
    pub const CPU: Device = Device::new(DeviceKind::Cpu, 0);
    /// Shapes only.
    pub const META: Device = Device::new(DeviceKind::Meta, 0);
    /// Host memory with the defining kernels.
    pub const REF: Device = Device::new(DeviceKind::Ref, 0);

    /// The `index`-th device of a kind.
    pub const fn new(kind: DeviceKind, index: u8) -> Self {
        Device { kind, index }
    }

    /// Whether its memory can be addressed by the host.
    pub const fn is_host(self) -> bool {
        matches!(self.kind, DeviceKind::Cpu | DeviceKind::Ref)
    }

    /// Reads `cpu`, `meta`, `cuda:1` and so on.
    ///
    /// # Errors
    /// `Runtime` for an unknown kind or a malformed number.
    pub fn parse(text: &str) -> crate::Result<Self> {
        let (name, index) = match text.split_once(':') {
            Some((n, i)) => (n, i.parse::<u8>().ok()),
            None => (text, Some(0)),
        };
        let kind = DeviceKind::ALL.into_iter().find(|k| k.name() == name);
        match (kind, index) {
            (Some(kind), Some(index)) => Ok(Device::new(kind, index)),
            _ => {
                let known = DeviceKind::ALL.map(DeviceKind::name).join(", ");
                crate::bail!(
                    Runtime,
                    "device",
                    "no device is called {text:?}; known are {known}, each with an optional :number"
                )
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Cpu | DeviceKind::Meta | DeviceKind::Ref => f.write_str(self.kind.name()),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}
