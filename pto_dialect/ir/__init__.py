"""The dialect: types, attributes and one operation class per PTO instruction."""
