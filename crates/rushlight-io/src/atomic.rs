//! Replacing a file in one step, so that no reader and no crash ever meets half of it.

use crate::fault::{Parsed, refuse};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Large enough that headers and small tensors go out together; large tensors pass it by.
const BUFFER: usize = 256 << 10;

/// Fills a new file by `fill` and gives it the name `path`, replacing what had it.
///
/// A link is followed: the file it leads to is replaced. The new file keeps the old one's
/// permissions. Tensors mapped from the old file stay good, since its bytes stay until they go.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Parsed<()>) -> Parsed<()> {
    let (target, old) = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => (fs::canonicalize(path)?, Some(meta)),
        Ok(_) => refuse!("is not a regular file, so it cannot be replaced by one"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_path_buf(), None),
        Err(error) => return Err(error.into()),
    };
    let (file, temporary) = Temporary::beside(&target)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    fill(&mut out)?;
    out.flush()?;
    let file = out.get_ref();
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    // Without this a crash after the rename could leave the new name on bytes that never came.
    file.sync_all()?;
    temporary.rename_to(&target)?;
    sync_folder(&target);
    Ok(())
}

/// A file that is removed again unless it gets its final name.
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn beside(target: &Path) -> Parsed<(File, Temporary)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(name) = target.file_name() else {
            refuse!("names no file");
        };
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{}.tmp", process::id(), COUNT.fetch_add(1, Relaxed)));
            let path = target.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Temporary(Some(path)))),
                // Left by a process that died and had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.0 {
            fs::rename(path, target)?;
            self.0 = None;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that led here is the one to report.
            let _ = fs::remove_file(path);
        }
    }
}

/// Puts the rename itself on disk, where folders can be synced; the file is whole either way.
fn sync_folder(target: &Path) {
    #[cfg(unix)]
    {
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    #[cfg(not(unix))]
    let _ = target;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use std::env;

    fn folder(name: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("rushlight-atomic-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failure");
        let path = folder.join("x");
        fs::write(&path, b"old").unwrap();
        let result = write(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(Fault::bad("no more"))
        });
        assert!(result.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&folder), ["x"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_success_replaces_the_file() {
        let folder = folder("success");
        let path = folder.join("x");
        for text in [b"first".as_slice(), b"2nd"] {
            write(&path, |out| Ok(out.write_all(text)?)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
        }
        assert_eq!(names(&folder), ["x"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn folders_and_places_that_are_not_there_are_refused() {
        let folder = folder("refused");
        for path in [folder.clone(), folder.join("no/such/folder"), PathBuf::from("..")] {
            let mut called = false;
            let result = write(&path, |_| {
                called = true;
                Ok(())
            });
            assert!(result.is_err() && !called, "{path:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("links");
        let (path, link) = (folder.join("x"), folder.join("link"));
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_dir_all(folder).unwrap();
    }
}
