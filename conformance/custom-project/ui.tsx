const Hello = ({ name }: { name: string }) => <b>Hello, {name}</b>;

export default { hello: Hello };
