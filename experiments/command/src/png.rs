//! Renders SVG pictures as PNG.

pub use renderer::{check, render};

#[cfg(feature = "png")]
mod renderer {
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::fontdb::Database;
    use resvg::usvg::{Options, Tree};
    use std::sync::{Arc, OnceLock};

    /// Pixels of the PNG per pixel of the SVG, unless a side would exceed [`MOST`] pixels.
    const SCALE: f32 = 2.0;
    const MOST: f32 = 16_384.0;

    /// Sans-serif fonts, the preferred ones first.
    const FAMILIES: [&str; 10] = [
        "DejaVu Sans",
        "Liberation Sans",
        "Noto Sans",
        "Open Sans",
        "Roboto",
        "Ubuntu",
        "Arial",
        "Helvetica Neue",
        "Helvetica",
        "Segoe UI",
    ];

    /// Checks that the system has a font.
    ///
    /// # Errors
    /// Returns a message if the system has no font, because text would be missing from the picture.
    pub fn check() -> Result<(), String> {
        fonts().map(|_| ())
    }

    /// Renders an SVG picture in its light colour scheme.
    ///
    /// # Errors
    /// Returns a message if there is no font, or if the picture is broken or too large.
    pub fn render(svg: &[u8]) -> Result<Vec<u8>, String> {
        let options =
            Options { fontdb: fonts()?, font_family: "sans-serif".to_owned(), ..Options::default() };
        let tree = Tree::from_data(svg, &options).map_err(|error| error.to_string())?;
        let size = tree.size();
        let scale = SCALE.min(MOST / size.width().max(size.height()));
        let [width, height] = [size.width(), size.height()].map(|side| (side * scale).ceil().max(1.0) as u32);
        let mut pixels = Pixmap::new(width, height).ok_or("the picture is too large for PNG; use .svg")?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }

    /// Returns the fonts of the system, which are loaded once.
    fn fonts() -> Result<Arc<Database>, String> {
        static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
        let fonts = FONTS.get_or_init(|| {
            let mut fonts = Database::new();
            fonts.load_system_fonts();
            let names: Vec<String> =
                fonts.faces().flat_map(|face| face.families.iter().map(|(name, _)| name.clone())).collect();
            let preferred = FAMILIES.into_iter().find(|family| names.iter().any(|name| name == family));
            if let Some(family) = preferred.or(names.first().map(String::as_str)) {
                // The renderer falls back to the serif family.
                fonts.set_sans_serif_family(family);
                fonts.set_serif_family(family);
            }
            Arc::new(fonts)
        });
        if fonts.is_empty() {
            return Err("this system has no fonts, so a PNG would have no text; use .svg".to_owned());
        }
        Ok(Arc::clone(fonts))
    }
}

#[cfg(not(feature = "png"))]
mod renderer {
    /// Reports that this build cannot write PNG.
    ///
    /// # Errors
    /// Always fails.
    pub fn check() -> Result<(), String> {
        Err("this build cannot write PNG; use .svg".to_owned())
    }

    /// Reports that this build cannot write PNG.
    ///
    /// # Errors
    /// Always fails.
    pub fn render(_: &[u8]) -> Result<Vec<u8>, String> {
        check().map(|()| Vec::new())
    }
}
