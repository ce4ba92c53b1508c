//! Writes the certificate of a search to a file, while it searches and when it is resumed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use broccoli_certificate::{Certificate, Form, Mark};
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{Outcome, Witness};
use broccoli_export::json::ProblemJson;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::complaint::Complaint;

/// The options about the certificate.
#[derive(Debug, Args)]
pub struct CertificateOptions {
    /// Write a certificate, which `broccoli verify` checks (behaviour only)
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// How much it holds
    #[arg(long, value_name = "FORM", default_value = "light", requires = "certificate")]
    certificate_form: FormName,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// What was decided; to be checked by running the system again
    Light,
    /// Also all that the system answered; can be checked without it
    Full,
}

impl CertificateOptions {
    pub fn is_wanted(&self) -> bool {
        self.certificate.is_some()
    }

    /// Begins the certificate, if one is wanted.
    pub fn begin(&self, problem: &ProblemJson) -> Result<Option<CertificateFile>, Complaint> {
        let form = match self.certificate_form {
            FormName::Light => Form::Light,
            FormName::Full => Form::Full,
        };
        let Some(path) = &self.certificate else { return Ok(None) };
        CertificateFile::create(path, form, problem)
            .map(Some)
            .map_err(|error| Complaint::input(format!("--certificate {path:?} cannot be written: {error}")))
    }
}

/// What a checkpoint says of the certificate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptCertificate {
    path: PathBuf,
    form: Form,
    mark: Mark,
}

/// A certificate that is being written.
pub struct CertificateFile {
    path: PathBuf,
    form: Form,
    /// A handle of its own, to see to it that all is on the disk.
    file: File,
    certificate: Arc<Certificate>,
}

impl CertificateFile {
    fn create(path: &Path, form: Form, problem: &ProblemJson) -> io::Result<Self> {
        // A search that is resumed may be so from another folder.
        let path = std::path::absolute(path)?;
        let file = File::create(&path)?;
        let certificate = Certificate::begin(Box::new(file.try_clone()?), form, problem)?;
        Ok(CertificateFile { path, form, file, certificate: Arc::new(certificate) })
    }

    /// Goes on with a certificate where a checkpoint was made. What came after it is cut off.
    pub fn resume(kept: KeptCertificate) -> Result<Self, Complaint> {
        let KeptCertificate { path, form, mark } = kept;
        let file = Self::cut(&path, mark).and_then(|file| Ok((file.try_clone()?, file)));
        let (writer, file) = file.map_err(|error| {
            Complaint::input(format!("the certificate {path:?} cannot be gone on with: {error}"))
                .help("put it back where it was, or go on without it: broccoli resume FILE --no-certificate")
        })?;
        let certificate = Arc::new(Certificate::go_on(Box::new(writer), form, mark));
        Ok(CertificateFile { path, form, file, certificate })
    }

    /// Opens the file and cuts it back, if it is the one that the mark is of.
    fn cut(path: &Path, mark: Mark) -> io::Result<File> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut end = [0; 4];
        if file.metadata()?.len() < mark.length {
            return Err(io::Error::other("it is shorter than it was"));
        }
        file.seek(SeekFrom::Start(mark.length.saturating_sub(4)))?;
        file.read_exact(&mut end)?;
        if !mark.is_behind(end) {
            return Err(io::Error::other("it is not the one that the search has begun"));
        }
        file.set_len(mark.length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(file)
    }

    pub fn witness(&self) -> Arc<dyn Witness> {
        self.certificate.clone()
    }

    /// What a checkpoint has to know. All of it is on the disk before the checkpoint is.
    pub fn kept(&self) -> io::Result<KeptCertificate> {
        let mark = self.certificate.mark()?;
        self.file.sync_all()?;
        Ok(KeptCertificate { path: self.path.clone(), form: self.form, mark })
    }

    /// Ends it with what the search claims.
    pub fn end(
        &self,
        problem: &Problem,
        factory: &dyn SystemFactory,
        outcome: &Outcome,
    ) -> Result<(), Complaint> {
        self.certificate.end(problem, factory, outcome).map_err(|error| {
            Complaint::other(format!("the certificate {:?} is of no use: {error}", self.path))
        })
    }
}
