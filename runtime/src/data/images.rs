//! Images, png and jpeg. One file is an array of rows, columns and channels; of the files of a pattern each is a row, and
//! belongs to the class that its folder is.
//!
//! Channels are those of the file: 1 of a grey image, 3 of a coloured one, one more with transparency; a palette's colours
//! are looked up. A png of 16 bits has `u16` elements, everything else `u8`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use png::{BitDepth, Decoder, Transformations};
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::source::{open_file, swap_bytes};
use super::{Contents, Named};
use crate::error::{DataError, Error};
use crate::host::{Bytes, DType, HostArray, TensorSpec};

/// The folders of the files of a pattern, by name: their numbers are the classes.
#[derive(Clone, Debug, Default)]
pub struct Classes(Vec<PathBuf>);

impl Classes {
    pub fn of(files: &[PathBuf]) -> Classes {
        let mut folders: Vec<PathBuf> = files.iter().map(|path| folder(path)).collect();
        folders.sort();
        folders.dedup();
        Classes(folders)
    }

    fn number(&self, path: &Path) -> i32 {
        let place = self.0.binary_search(&folder(path));
        // A file that came after the pattern was expanded is not among those that are asked for.
        place.map_or(0, |number| number as i32)
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// `classes`: of the pattern that the file belongs to, if any.
pub fn describe(path: &Path, classes: Option<&Classes>) -> Result<Contents<TensorSpec>, Error> {
    let spec = Image::open(path)?.spec(path)?;
    Ok(match classes {
        None => Contents::One(spec),
        Some(_) => Contents::Named(vec![
            ("x".to_owned(), as_row(spec)),
            ("y".to_owned(), TensorSpec::new(DType::I32, [1])),
        ]),
    })
}

pub fn read(path: &Path, classes: Option<&Classes>) -> Result<Contents<HostArray>, Error> {
    let array = Image::open(path)?.read(path)?;
    Ok(match classes {
        None => Contents::One(array),
        Some(classes) => Contents::Named(rows(array, classes.number(path))?),
    })
}

fn rows(image: HostArray, class: i32) -> Result<Named<HostArray>, Error> {
    let spec = as_row(image.spec().clone());
    let bytes = Bytes::from_slice(image.bytes());
    Ok(vec![
        (
            "x".to_owned(),
            HostArray::new(spec.dtype, spec.shape, bytes)?,
        ),
        ("y".to_owned(), HostArray::from_elements([1], &[class])?),
    ])
}

fn as_row(mut spec: TensorSpec) -> TensorSpec {
    spec.shape.insert(0, 1);
    spec
}

type Input = BufReader<File>;

/// An image whose header has been read.
enum Image {
    Png(Box<png::Reader<Input>>),
    Jpeg(Box<JpegDecoder<Input>>),
}

impl Image {
    fn open(path: &Path) -> Result<Image, Error> {
        let (file, _) = open_file(path)?;
        let input = BufReader::with_capacity(1 << 16, file);
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        if ending == "png" {
            let mut decoder = Decoder::new(input);
            decoder.set_transformations(Transformations::EXPAND);
            let reader = decoder
                .read_info()
                .map_err(|e| DataError::malformed(path, "png", e))?;
            return Ok(Image::Png(Box::new(reader)));
        }
        let mut decoder = JpegDecoder::new(input);
        let bad = |e| DataError::malformed(path, "jpeg", e);
        decoder.decode_headers().map_err(bad)?;
        let colors = match decoder.input_colorspace() {
            Some(ColorSpace::Luma) => ColorSpace::Luma,
            _ => ColorSpace::RGB,
        };
        let options = DecoderOptions::default().jpeg_set_out_colorspace(colors);
        decoder.set_options(options);
        Ok(Image::Jpeg(Box::new(decoder)))
    }

    fn spec(&self, path: &Path) -> Result<TensorSpec, Error> {
        match self {
            Image::Png(reader) => {
                let (color, depth) = reader.output_color_type();
                let (width, height) = (reader.info().width, reader.info().height);
                let dtype = match depth {
                    BitDepth::Sixteen => DType::U16,
                    _ => DType::U8,
                };
                let shape = [height as usize, width as usize, color.samples()];
                Ok(TensorSpec::new(dtype, shape))
            }
            Image::Jpeg(decoder) => {
                let colors = decoder.output_colorspace();
                match (decoder.info(), colors) {
                    (Some(info), Some(colors)) => {
                        let (height, width) = (info.height as usize, info.width as usize);
                        let shape = [height, width, colors.num_components()];
                        Ok(TensorSpec::new(DType::U8, shape))
                    }
                    _ => Err(DataError::malformed(path, "jpeg", "it has no header")),
                }
            }
        }
    }

    fn read(self, path: &Path) -> Result<HostArray, Error> {
        let spec = self.spec(path)?;
        let mut bytes = Bytes::zeroed(spec.checked_len()?);
        match self {
            Image::Png(mut reader) => {
                let read = reader.next_frame(bytes.as_mut_slice());
                read.map_err(|e| DataError::malformed(path, "png", e))?;
                // Its samples of 16 bits have their high byte first.
                swap_bytes(&mut bytes, spec.dtype.size());
            }
            Image::Jpeg(mut decoder) => {
                let read = decoder.decode_into(bytes.as_mut_slice());
                read.map_err(|e| DataError::malformed(path, "jpeg", e))?;
            }
        }
        HostArray::new(spec.dtype, spec.shape, bytes)
    }
}
