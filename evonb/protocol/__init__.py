"""Every message between Python and the browser, declared once; the TypeScript types are generated from here."""
